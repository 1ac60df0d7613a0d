// The stylesheet: system fonts, one column, one accent. Contrast is at least 4.5 to 1 in light and dark mode.
export const STYLE = `
:root{--back:#f4f5f7;--card:#fff;--text:#1c2128;--soft:#57606a;--line:#d0d7de;--input:#868f99;--accent:#0b57d0;--on:#fff;--wrong:#b3261e;--wrong-back:#fdf3f2;color-scheme:light dark}
@media (prefers-color-scheme:dark){:root{--back:#0f1317;--card:#181d23;--text:#e6e9ed;--soft:#a3adb8;--line:#323a44;--input:#7d8793;--accent:#8ab4f8;--on:#0b1a33;--wrong:#f6aea8;--wrong-back:#2b1b1b}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{max-width:40rem;margin:0 auto;padding:2.5rem 1rem 4rem}
h1{margin:0 0 .5rem;font-size:1.6rem;line-height:1.25}
h2{margin:0 0 .5rem;font-size:1rem;color:var(--soft)}
p{margin:0 0 .75rem;overflow-wrap:anywhere}
header{margin-bottom:1.5rem}
.who{margin:0;color:var(--soft)}
.who strong{color:var(--text)}
.who code{padding:.1em .35em;background:var(--card);border:1px solid var(--line);border-radius:.35rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1.5rem;margin-bottom:1.25rem}
.card>:last-child{margin-bottom:0}
dl{display:grid;grid-template-columns:auto 1fr;gap:.5rem 1rem;margin:0 0 1.25rem}
dt{color:var(--soft)}
dd{margin:0;min-width:0;overflow-wrap:anywhere}
.message{font-size:1.15rem}
.text{white-space:pre-wrap}
.field{margin:1.5rem 0 0}
.wrong{border-inline-start:.25rem solid var(--wrong);padding-inline-start:1rem}
label,legend,.label{font-weight:600;overflow-wrap:anywhere}
fieldset{margin:0;padding:0;border:0;min-width:0}
legend{padding:0}
.optional,.hint,footer{color:var(--soft);font-weight:400}
.hint{margin:.125rem 0 0;font-size:.925rem}
.error{margin:.25rem 0 0;color:var(--wrong)}
input,select,textarea,button{font:inherit;color:inherit}
input:not([type=radio],[type=checkbox]),select,textarea{display:block;width:100%;margin-top:.5rem;padding:.6rem .75rem;min-height:2.75rem;background:var(--card);border:1px solid var(--input);border-radius:.5rem}
textarea{resize:vertical}
::file-selector-button{font:inherit;font-weight:600;color:inherit;margin-inline-end:.75rem;padding:.1rem .75rem;background:var(--back);border:1px solid var(--line);border-radius:.35rem;cursor:pointer}
.label{margin:0}
.code,code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.925rem}
input.short,select.short{width:auto;max-width:100%}
[aria-invalid=true]{border-color:var(--wrong)!important}
label.hint{display:block;margin-top:.5rem}
.tick{display:flex;gap:.75rem;align-items:flex-start;padding:.5rem 0;font-weight:400;min-height:2.75rem}
.tick span{min-width:0}
.tick input{flex:none;width:1.25rem;height:1.25rem;margin:.125rem 0;accent-color:var(--accent)}
.skip{margin-top:1.25rem;border-top:1px solid var(--line);padding-top:1rem}
.buttons{display:flex;flex-wrap:wrap;gap:.75rem;margin:1.5rem 0}
button{padding:.6rem 1.25rem;min-height:2.75rem;font-weight:600;background:var(--card);border:1px solid var(--input);border-radius:.5rem;cursor:pointer}
.card .buttons{margin-bottom:0}
.primary{background:var(--accent);border-color:var(--accent);color:var(--on)}
.quiet{background:none;border-color:transparent}
button:hover{filter:brightness(.95)}
a{color:var(--accent)}
.go{display:inline-block;padding:.6rem 1.25rem;font-weight:600;text-decoration:none;border:1px solid var(--accent);border-radius:.5rem}
.go:hover{text-decoration:underline}
.host{font-size:1.15rem}
.address{margin:.25rem 0 0;padding:.6rem .75rem;background:var(--back);border-radius:.5rem}
.notice{color:var(--wrong)}
.errors{background:var(--wrong-back);border:2px solid var(--wrong);border-radius:.75rem;padding:1.25rem 1.5rem;margin-bottom:1.25rem}
.errors h2{color:var(--wrong);font-size:1.15rem}
.errors ul{margin:0;padding-inline-start:1.25rem}
.errors a{color:var(--wrong)}
.errors p{margin:.75rem 0 0}
.done h1::before{content:"✓" / "";margin-inline-end:.5rem;color:var(--accent)}
footer{font-size:.925rem}
footer p{margin:0 0 .25rem}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
@media (max-width:30rem){main{padding-top:1.5rem}.card{padding:1.25rem 1rem}.buttons button{width:100%}}
@media (prefers-reduced-motion:no-preference){button{transition:filter .15s}}
@media (forced-colors:active){.primary{border-width:3px}}
`;
