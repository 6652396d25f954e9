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

/** A line on the screen: what it shows, and how it ends. */
type Row = { show(line: string): void; finish(): void; task: ListTask };
type ListTask = { title: string; task(context: unknown, task: { title: string }): Promise<void> };

/** Draws until `stop` is called. Signals stay with the command. */
export function startLive(
  clauses: readonly SelectedClause[],
  layout: Layout,
  terminal: NodeJS.WriteStream,
): Live {
  const rows = new Map(clauses.map((one) => [one.clause.id, clauseRow(one, layout)]));
  const list = new Listr(
    [...rows.values()].map(({ row }) => row.task),
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
  let ready = false;
  const rowsOf = (specs: readonly { clause: string }[]): ClauseRow[] =>
    [...new Set(specs.map(({ clause }) => clause))].flatMap((id) => rows.get(id) ?? []);

  return {
    onEvent(event) {
      switch (event.is) {
        case 'selected':
          return;
        case 'phase':
          // Nothing runs before the server does, so every open line says what is waited for. Later
          // phases are those of a server for one task alone.
          for (const row of rows.values()) if (!ready && !row.begun) row.progress(event.text);
          return;
        case 'ready':
          ready = true;
          for (const row of rows.values()) if (!row.begun) row.progress('');
          return;
        case 'task_started':
          for (const row of rowsOf(event.task.specs)) row.begin();
          return;
        case 'progress':
          for (const row of rowsOf(event.task.specs)) row.progress(event.text);
          return;
        case 'check_done':
          for (const row of rowsOf([event.result.spec])) row.count();
          return;
        case 'clause_done':
          rows.get(event.result.clause.id)?.done(clauseLine(event.result, layout));
      }
    },
    async stop() {
      for (const { row } of rows.values()) row.finish();
      await drawing;
    },
  };
}

type ClauseRow = ReturnType<typeof clauseRow>;

/** The line of one clause: `§8.3  Lease  3/7 · killing worker 2` until it is done. */
function clauseRow({ clause, specs }: SelectedClause, layout: Layout) {
  const row = rowOf(runningLine(clause, '', layout));
  let judged = 0;
  const state = {
    row,
    begun: false,
    begin(): void {
      state.begun = true;
      state.progress('');
    },
    progress(text: string): void {
      const note = visible(text).replaceAll('\n', ' ');
      const counts = [
        ...(state.begun ? [`${judged}/${specs.length}`] : []),
        ...(note === '' ? [] : [note]),
      ].join(' · ');
      row.show(runningLine(clause, counts, layout));
    },
    count(): void {
      judged += 1;
      state.progress('');
    },
    done(line: string): void {
      row.show(line);
      row.finish();
    },
  };
  return state;
}

/** A line may be set before the list has begun to draw it, and finished before that too. */
function rowOf(first: string): Row {
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let line = first;
  let drawn: { title: string } | undefined;
  return {
    show(text) {
      line = text;
      if (drawn !== undefined) drawn.title = text;
    },
    finish: () => {
      finish();
    },
    task: {
      title: first,
      async task(_, task) {
        drawn = task;
        task.title = line;
        await finished;
      },
    },
  };
}
