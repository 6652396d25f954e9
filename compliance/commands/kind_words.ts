import type { Kind, Text } from '../types.ts';

/** What each kind of check does, for people who meet it for the first time. */
export const kindWords: Readonly<Record<Kind, Text>> = {
  catalog: {
    en: 'a query over the catalog or the data that must return no row',
    vi: 'truy vấn trên catalog hoặc dữ liệu, không được trả về dòng nào',
  },
  pgtap: {
    en: 'assertions in one session',
    vi: 'các khẳng định trong một phiên',
  },
  race: {
    en: 'named sessions and steps, in every order',
    vi: 'các phiên và các bước có tên, theo mọi thứ tự',
  },
  explore: {
    en: 'schedules of single statements inside functions',
    vi: 'các lịch đan xen từng câu lệnh bên trong hàm',
  },
  claimers: {
    en: 'separate worker processes and a judge of their recorded history',
    vi: 'nhiều tiến trình worker riêng, lịch sử ghi lại được đem ra đánh giá',
  },
  timed: {
    en: 'a real clock and real kills',
    vi: 'đồng hồ thực, tiến trình bị kill thật',
  },
  matrix: {
    en: 'every combination of a table',
    vi: 'mọi tổ hợp của một bảng',
  },
  property: {
    en: 'generated inputs, repeatable by their seed',
    vi: 'dữ liệu đầu vào sinh ngẫu nhiên, lặp lại được bằng seed',
  },
  plan: {
    en: 'a seeded volume of rows; buffers and scans are counted',
    vi: 'một lượng dữ liệu lớn; đếm số buffer và số lần quét',
  },
};
