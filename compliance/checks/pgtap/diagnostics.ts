/** What pgTAP says after a failed test: picks out what was wanted and what was seen. */

export type Told = { expected?: string; seen?: string; trace: readonly string[] };

// pgTAP's labels by assertion: is, isnt, results_eq (have/want), throws_ok (caught/wanted), lives_ok (died).
const LABEL = /^\s+(have|want|caught|wanted|died): (.*)$/;

/** Lines as they follow `not ok`, without `#`. A value of several lines goes on until the next label. */
export function readDiagnostics(lines: readonly string[]): Told {
  const values = new Map<string, string[]>();
  const trace: string[] = [];
  let current: string[] | undefined;
  for (const line of lines) {
    const [, label, value] = LABEL.exec(line) ?? [];
    if (label !== undefined && value !== undefined) {
      current = [value];
      values.set(label.startsWith('want') ? 'expected' : 'seen', current);
    } else if (current) {
      current.push(line);
    } else if (!/^Failed (?:\(TODO\) )?test \d+/.test(line)) {
      trace.push(line);
    }
  }
  const [expected, seen] = [values.get('expected'), values.get('seen')];
  return {
    ...(expected ? { expected: expected.join('\n') } : {}),
    ...(seen ? { seen: seen.join('\n') } : {}),
    trace,
  };
}
