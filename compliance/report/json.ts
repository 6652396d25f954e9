import type { Report } from './report.ts';

/** The report as JSON, two spaces, ending with a line end: the content of `report.json`. */
export function toJson(report: Report): string {
  return `${JSON.stringify(report, undefined, 2)}\n`;
}
