/** Live progress on a terminal: one line a clause, redrawn in place while its checks run. */
import { Listr, ListrDefaultRendererLogLevels, ListrLogger, ProcessOutput } from 'listr2';
import type { RunEvent } from '../run/events.ts';
import type { SelectedClause } from '../run/select.ts';
import { clauseLine, type Layout, runningLine } from './lines.ts';
import { visible } from './style.ts';

export type Live = {
  onEvent(event: RunEvent): void;
  /** Ends the drawing and leaves the lines standing. */
  stop(): Promise<void>;
};

type Row = {
  one: SelectedClause;
  done: number;
  text: string;
  finished: PromiseWithResolvers;
  draw(line: string): void;
};
type PromiseWithResolvers = { promise: Promise<void>; resolve(): void };

/** Draws until every clause is done or `stop` is called. Signals stay with the command. */
export function startLive(
  clauses: readonly SelectedClause[],
  layout: Layout,
  terminal: NodeJS.WriteStream,
): Live {
  const rows = new Map<string, Row>(clauses.map((one) => [one.clause.id, rowOf(one)]));
  const list = new Listr(
    [...rows.values()].map((row) => ({
      title: waitingLine(row, layout),
      task: async (_, task) => {
        row.draw = (line) => {
          task.title = line;
        };
        row.draw(row.text === '' ? waitingLine(row, layout) : row.text);
        await row.finished.promise;
      },
    })),
    {
      concurrent: true,
      registerSignalListeners: false,
      forceTTY: true,
      rendererOptions: {
        formatOutput: 'truncate',
        // A finished line brings its own symbol.
        icon: { [ListrDefaultRendererLogLevels.COMPLETED]: '' },
        logger: new ListrLogger({
          useIcons: true,
          toStderr: [],
          processOutput: new ProcessOutput(terminal, terminal, { leaveEmptyLine: false }),
        }),
      },
    },
  );
  const drawing = list.run();

  const show = (row: Row, text: string): void => {
    const counts = `${row.done}/${row.one.specs.length}`;
    row.text = runningLine(row.one.clause, text === '' ? counts : `${counts} · ${text}`, layout);
    row.draw(row.text);
  };
  return {
    onEvent(event) {
      switch (event.is) {
        case 'selected':
        case 'phase':
          return;
        case 'task_started':
        case 'progress':
          for (const row of rowsOf(event.task.specs, rows))
            show(row, event.is === 'progress' ? visible(event.text).replaceAll('\n', ' ') : '');
          return;
        case 'check_done':
          for (const row of rowsOf([event.result.spec], rows)) {
            row.done += 1;
            show(row, '');
          }
          return;
        case 'clause_done': {
          const row = rows.get(event.result.clause.id);
          if (row === undefined) return;
          row.text = clauseLine(event.result, layout);
          row.draw(row.text);
          row.finished.resolve();
        }
      }
    },
    async stop() {
      for (const row of rows.values()) row.finished.resolve();
      await drawing;
    },
  };
}

function rowOf(one: SelectedClause): Row {
  return { one, done: 0, text: '', finished: withResolvers(), draw: () => undefined };
}

function waitingLine({ one }: Row, layout: Layout): string {
  return runningLine(one.clause, '', layout);
}

function rowsOf(specs: readonly { clause: string }[], rows: ReadonlyMap<string, Row>): Row[] {
  const ids = new Set(specs.map(({ clause }) => clause));
  return [...ids].flatMap((id) => rows.get(id) ?? []);
}

function withResolvers(): PromiseWithResolvers {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
