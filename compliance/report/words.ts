/** The few words that reports say, in both languages. */
import type { ClauseStatus, Lang } from '../types.ts';

const statuses: Readonly<Record<Lang, Readonly<Record<ClauseStatus, string>>>> = {
  en: {
    passed: 'passed',
    failed: 'failed',
    error: 'error',
    unknown: 'unknown',
    not_applicable: 'not applicable',
    not_reviewed: 'not reviewed',
    waived: 'waived',
    attested: 'attested',
  },
  vi: {
    passed: 'đạt',
    failed: 'vi phạm',
    error: 'lỗi',
    unknown: 'chưa rõ',
    not_applicable: 'không áp dụng',
    not_reviewed: 'chưa xem xét',
    waived: 'được miễn trừ',
    attested: 'được xác nhận',
  },
};

export type Words = {
  check: string;
  checks: string;
  assertion: string;
  assertions: string;
  planned: string;
  leftOut: string;
  expected: string;
  seen: string;
  trace: string;
  at: string;
  stated: string;
  reproduce: string;
  more: string;
  noCheck: string;
  of: string;
  clause: string;
  clauses: string;
  profile: string;
  seed: string;
  evidence: string;
  exit: string;
};

const words: Readonly<Record<Lang, Words>> = {
  en: {
    check: 'check',
    checks: 'checks',
    assertion: 'assertion',
    assertions: 'assertions',
    planned: 'planned',
    leftOut: 'left out',
    expected: 'expected',
    seen: 'seen',
    trace: 'trace',
    at: 'at',
    stated: 'stated at',
    reproduce: 'reproduce',
    more: 'more broken assertions; --verbose and the JSON report show all',
    noCheck: 'the manifest gives this clause no check',
    of: 'of',
    clause: 'clause',
    clauses: 'clauses',
    profile: 'profile',
    seed: 'seed',
    evidence: 'evidence',
    exit: 'exit',
  },
  vi: {
    check: 'phép kiểm',
    checks: 'phép kiểm',
    assertion: 'khẳng định',
    assertions: 'khẳng định',
    planned: 'sẽ làm sau',
    leftOut: 'để ngoài',
    expected: 'mong đợi',
    seen: 'thấy',
    trace: 'diễn biến',
    at: 'tại',
    stated: 'khai báo tại',
    reproduce: 'chạy lại',
    more: 'khẳng định sai nữa; --verbose và báo cáo JSON cho thấy tất cả',
    noCheck: 'tệp khai báo không có phép kiểm nào cho điều khoản này',
    of: 'của',
    clause: 'điều khoản',
    clauses: 'điều khoản',
    profile: 'hồ sơ',
    seed: 'hạt giống',
    evidence: 'bằng chứng',
    exit: 'mã thoát',
  },
};

export function statusWord(status: ClauseStatus, lang: Lang): string {
  return statuses[lang][status];
}

export function wordsOf(lang: Lang): Words {
  return words[lang];
}

/** `1 check`, `7 checks`; Vietnamese has one form for both. */
export function counted(count: number, noun: 'check' | 'assertion' | 'clause', lang: Lang): string {
  return `${count} ${words[lang][count === 1 ? noun : (`${noun}s` as const)]}`;
}
