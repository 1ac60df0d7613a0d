// What a server in a sandbox may do.

export interface SandboxAddress {
  /** Run it in a sandbox of the machine; `true`: it may change no files and reach no hosts. */
  sandbox?: SandboxOptions | boolean | undefined;
}

export interface SandboxStatus {
  /** Which sandbox a command has, and what it may do there, if one is configured; absent for URLs. */
  sandbox?: { kind: string; holds?: string };
}
export interface SandboxOptions {
  /** Files and folders that the server may change. Everything else can only be read. */
  write?: readonly string[] | undefined;
  /** Hosts that it may reach, such as `api.example.com` or `*.example.com`; `*` is all. Default: none. */
  hosts?: readonly string[] | undefined;
  /** Run it in a container of this image, by docker. */
  image?: string | undefined;
  /** Start it without a sandbox if the machine has no sandbox. Default: it does not start. */
  optional?: boolean | undefined;
}
