// What a server in a sandbox may do.
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
