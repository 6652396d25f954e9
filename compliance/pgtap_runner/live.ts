/** The bottom line of a terminal while files run: how many are done, and which are running. */
import { fit, visible } from '../report/style.ts';

export type Live = {
  /** Writes above the line. */
  above(text: string): void;
  running(files: readonly string[]): void;
  stop(): void;
};

const ERASE = '\r\u001b[2K';

export function startLive(terminal: NodeJS.WriteStream, total: number): Live {
  let files: readonly string[] = [];
  let done = -1;
  const draw = (): void => {
    if (files.length === 0) return;
    const line = `${Math.max(0, done)} of ${total} · ${files.map(visible).join(', ')}`;
    terminal.write(fit(line, Math.max(20, terminal.columns) - 1).trimEnd());
  };
  return {
    above(text) {
      terminal.write(`${ERASE}${text}`);
      draw();
    },
    running(now) {
      if (now.length <= files.length || done < 0) done += 1;
      files = now;
      terminal.write(ERASE);
      draw();
    },
    stop() {
      files = [];
      terminal.write(ERASE);
    },
  };
}
