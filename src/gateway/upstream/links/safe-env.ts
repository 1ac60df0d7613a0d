// Builds the environment of a child process: a few variables that programs need to run, plus those configured for this server. It
// never inherits our whole environment, which holds the secrets of the gateway and of other servers.
const POSIX = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LANGUAGE', 'TERM', 'SHELL', 'TMPDIR', 'TZ'];
const WINDOWS = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
];

export function safeEnv(
  own: Record<string, string> = {},
  ours: Record<string, string | undefined> = process.env,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(ours)) {
    if (value !== undefined && isInherited(name, value, platform)) env[name] = value;
  }
  return { ...env, ...own };
}

function isInherited(name: string, value: string, platform: NodeJS.Platform): boolean {
  // bash exports functions as variables; a crafted one runs in every shell below (Shellshock).
  if (value.startsWith('()')) return false;
  if (platform === 'win32') return WINDOWS.includes(name.toUpperCase());
  return POSIX.includes(name) || name.startsWith('LC_');
}
