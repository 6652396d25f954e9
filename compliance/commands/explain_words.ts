import type { Lang } from '../types.ts';

const en = {
  /** Columns that the names of fields take. */
  columns: 12,
  harm: 'A breach means',
  impact: 'impact',
  ofOne: 'of 1',
  release: 'release',
  selfTest: 'answers in self_test',
  notApplicable: 'does not apply',
  nothingBuilt: 'Nothing proves it yet: every check is planned, so the clause is not reviewed.',
  proves: 'What proves it',
  planned: 'Planned, so not proven yet',
  allOfIt: 'all of it',
  kind: 'kind',
  file: 'file',
  stated: 'stated at',
  expects: 'expects',
  assertion: 'assertion',
  assertions: 'assertions',
  mustObserve: 'must observe',
  needs: 'needs',
  why: 'why not yet',
  reproduce: 'reproduce',
  questions: "The Council's questions",
  open: 'open',
  ratified: 'ratified on',
  proposed: 'proposed',
};

/** What `explain` says beside the manifest's own texts. */
export type ExplainWords = Readonly<Record<keyof Omit<typeof en, 'columns'>, string>> & {
  columns: number;
};

const vi: ExplainWords = {
  columns: 13,
  harm: 'Khi bị vi phạm',
  impact: 'mức ảnh hưởng',
  ofOne: 'trên 1',
  release: 'phiên bản',
  selfTest: 'trả lời trong self_test',
  notApplicable: 'không áp dụng',
  nothingBuilt:
    'Chưa có gì chứng minh: mọi phép kiểm mới chỉ được dự kiến, nên điều khoản này chưa được xem xét.',
  proves: 'Được chứng minh bằng',
  planned: 'Mới dự kiến, nên chưa được chứng minh',
  allOfIt: 'toàn bộ',
  kind: 'loại',
  file: 'tệp',
  stated: 'khai báo tại',
  expects: 'mong đợi',
  assertion: 'khẳng định',
  assertions: 'khẳng định',
  mustObserve: 'phải thấy',
  needs: 'cần',
  why: 'lý do chưa có',
  reproduce: 'chạy lại',
  questions: 'Câu hỏi dành cho Hội đồng',
  open: 'chưa quyết định',
  ratified: 'phê chuẩn ngày',
  proposed: 'đề xuất',
};

export const explainWords: Readonly<Record<Lang, ExplainWords>> = { en, vi };
