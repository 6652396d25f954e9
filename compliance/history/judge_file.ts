/** A history file → findings, with the text of each fault's trace. */
import { digestFold } from './digest.ts';
import type { HistoryEvent } from './events.ts';
import { pickEvents, readHistory } from './file.ts';
import type { Fault, Finding, JudgeName } from './finding.ts';
import { judgeDigest } from './judges/index.ts';
import type { Digest } from './story.ts';
import { describe } from './trace.ts';

export type ShownFault = Fault & { trace: readonly string[] };
export type ShownFinding = Omit<Finding, 'faults'> & { faults: readonly ShownFault[] };
export type Judged = { digest: Digest; findings: readonly ShownFinding[] };

/**
 * Judges a recorded history: one pass to read it, and a second one only when there is a fault whose
 * events must be shown.
 * @throws KitError 65 naming file and line when the file is no history.
 */
export async function judgeFile(path: string, names?: readonly JudgeName[]): Promise<Judged> {
  const fold = digestFold();
  for await (const event of readHistory(path)) fold.see(event);
  const digest = fold.finish();
  const findings = judgeDigest(digest, names);
  const wanted = findings.flatMap(({ faults }) => faults.flatMap(({ lines }) => lines));
  const events = wanted.length === 0 ? new Map() : await pickEvents(path, wanted);
  return { digest, findings: findings.map((finding) => show(finding, events)) };
}

function show(finding: Finding, events: ReadonlyMap<number, HistoryEvent>): ShownFinding {
  const faults = finding.faults.map((fault) => ({
    ...fault,
    trace: fault.lines.flatMap((line) => {
      const event = events.get(line);
      return event === undefined ? [] : [describe(event, line)];
    }),
  }));
  return { ...finding, faults };
}
