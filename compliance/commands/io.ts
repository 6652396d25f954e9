/** What a command is given of the outside world: all of it, so that tests can give it another. */
export type Io = {
  /** Standard output and standard error; texts bring their own line ends. */
  out: Sink;
  err: Sink;
  /** Whether colours are wanted on `out`. */
  color: boolean;
  /** Columns of the terminal; 80 off a terminal. */
  width: number;
  /** The folder of this package: its own `sql/` and `selftest/` are the defaults. */
  root: string;
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C and SIGTERM, with a KitError 130 as its reason. */
  signal: AbortSignal;
  /** The stream behind `out` where it is a terminal that can be drawn on. */
  terminal?: NodeJS.WriteStream;
  /** How people call the command here: `./scripts/dieu45` or `npx dieu45`. */
  self: string;
};

export type Sink = { write(text: string): unknown };
