import { describe, expect, test } from 'vitest';
import { isAppError } from '#entities/kit/base/errors.ts';
import { csvLine, isFormula, plainText, safeCell } from '#entities/kit/csv/csv-cells.ts';
import { readHeader, type CsvTarget } from '#entities/kit/csv/csv-columns.ts';
import { readCells } from '#entities/kit/csv/csv-changes.ts';
import { csvPages, csvRows, type CsvRow } from '#entities/kit/csv/csv-rows.ts';
import { csvTemplate } from '#entities/kit/csv/csv-template.ts';
import { textOfValue, valueOfCell } from '#entities/kit/csv/csv-values.ts';
import { isRequired, writableFields } from '#entities/kit/model/exposure.ts';
import { validateCreations } from '#entities/kit/model/input.ts';
import { registry, secret, task } from '#entities/index.ts';

const megabyte = 1_048_576;

async function rowsOf(source: AsyncIterable<Buffer> | string, maxBytes = megabyte): Promise<CsvRow[]> {
  const rows: CsvRow[] = [];
  for await (const row of csvRows(source, maxBytes)) rows.push(row);
  return rows;
}

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function refusal(source: Buffer, maxBytes?: number): Promise<string> {
  const error: unknown = await rowsOf(pieces(source, 3), maxBytes).catch((thrown: unknown) => thrown);
  if (!isAppError(error)) throw error;
  return error.details.fields?.[0]?.message ?? '';
}

const utf16 = (text: string) => Buffer.from(text, 'utf16le');

test('what is wrong with the cell of a secret is told without the cell', () => {
  const key = '-----BEGIN PRIVATE KEY-----';
  const read = valueOfCell(secret.fields.value, key);
  expect(read).toMatchObject({ message: expect.stringContaining('formula') as string });
  expect(JSON.stringify(read)).not.toContain('BEGIN');
});

test('pages of long rows are short', async () => {
  async function* rows(): AsyncGenerator<CsvRow> {
    for (let line = 1; line <= 20; line++) yield { cells: ['a'.repeat(900_000)], line };
  }
  const pages = [];
  for await (const page of csvPages(rows(), 500)) pages.push(page.length);
  expect(pages).toEqual([5, 5, 5, 5]);
});

describe('a document', () => {
  test('is read in pieces that end anywhere', async () => {
    const text = '\uFEFFtitle,details\r\n"Prüfung, „eins“","über\nzwei"\r\n😀,x\n';
    for (const size of [1, 2, 3, 7, 1_000])
      expect(await rowsOf(pieces(Buffer.from(text), size))).toEqual([
        { cells: ['title', 'details'], line: 1 },
        { cells: ['Prüfung, „eins“', 'über\nzwei'], line: 2 },
        { cells: ['😀', 'x'], line: 4 },
      ]);
  });

  test.each([
    ['UTF-16 with a mark', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16('title\n')]), 'it is encoded in UTF-16;'],
    ['UTF-16 big-endian', Buffer.from([0xfe, 0xff, 0, 0x74]), 'it is encoded in UTF-16;'],
    ['UTF-16 without a mark', utf16('title\n'), 'it is encoded in UTF-16 or UTF-32;'],
    ['Latin-1', Buffer.from('title\na\nPrüfung\n', 'latin1'), 'line 3: a character is not UTF-8 (is it Latin-1?)'],
    ['a cut character', Buffer.from('title\nü').subarray(0, -1), 'line 2: a character is not UTF-8'],
    ['a workbook', Buffer.from('PK\u0003\u0004xl/workbook.xml'), 'it is a workbook of a spreadsheet'],
    ['an open quotation', Buffer.from('title\n"a\n'), 'line 2: a quoted cell is not closed'],
    ['a stray quotation mark', Buffer.from('title\na\nb"c\n'), 'line 3: a quotation mark is misplaced'],
    [
      'too many cells',
      Buffer.from('title\na,b\n'),
      'line 2: the number of cells differs from the header; quote cells that have commas',
    ],
  ])('in %s is refused by name', async (_about, bytes, expected) => {
    expect(await refusal(bytes)).toContain(expected);
  });

  test('of more bytes than allowed is not read to its end', async () => {
    let read = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      for (;;) {
        read += 1_000;
        yield Buffer.alloc(1_000, 'a\n');
      }
    }
    await expect(rowsOf(endless(), 10_000)).rejects.toMatchObject({ code: 'limit_exceeded' });
    expect(read).toBeLessThan(1_000_000);
  });

  test('whose source breaks off fails with the error of the source', async () => {
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.from('title\na\n');
      throw new Error('the storage is gone');
    }
    await expect(rowsOf(broken())).rejects.toThrow('the storage is gone');
  });
});

describe('cells (T-114)', () => {
  const formulas = [
    '=1+1',
    '+cmd|calc',
    '-2+3',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '\n=1',
    '＝1',
    '＋1',
    '－1',
    '＠a',
    '-',
    '=',
    "'=1",
    "''@a",
  ];

  test('that look like formulas begin with an apostrophe, and come back as they were', () => {
    for (const text of [...formulas, "'a", "it's", '5', '', 'a=b', "'"]) {
      const cell = safeCell(text);
      expect(plainText(cell)).toBe(text);
      expect(isFormula(cell)).toBe(false);
    }
    for (const text of formulas) expect(safeCell(text).startsWith("'")).toBe(true);
    expect(safeCell('plain')).toBe('plain');
  });

  test('are quoted where they must be', async () => {
    const texts = ['a,b', 'say "x"', 'two\nlines', ' spaced ', '', '=1,2', 'plain'];
    const [row] = await rowsOf(csvLine(texts));
    expect(row?.cells.map(plainText)).toEqual(texts);
  });

  test('of foreign documents that look like formulas are refused, numbers and telephone numbers are not', () => {
    for (const cell of ['=HYPERLINK("http://x")', '+cmd|calc', '-2+3', '@SUM(1)', '\tx'])
      expect(valueOfCell(task.fields.title, cell)).toMatchObject({
        message: expect.stringContaining('begins like a formula of a spreadsheet'),
      });
    for (const cell of ['+49 (30) 123-45', '-5', '-0.5', 'a=b'])
      expect(valueOfCell(task.fields.title, cell)).toBe(cell);
    expect(valueOfCell(task.fields.title, "'=1+1")).toBe('=1+1');
    expect(valueOfCell(task.fields.priority, '-5')).toBe(-5);
  });

  test('of values come back as the values', () => {
    const values: [keyof typeof task.fields, unknown][] = [
      ['title', '=1'],
      ['priority', 7],
      ['status', 'in_progress'],
      ['tags', ['a', 'b']],
      ['tags', ['a;b', 'c']],
      ['tags', ['[a]', ' b']],
      ['metadata', { a: [1, null, '=x'] }],
    ];
    for (const [name, value] of values) {
      const field = task.fields[name];
      expect(valueOfCell(field, safeCell(textOfValue(field, value)))).toEqual(value);
    }
  });
});

describe('a header', () => {
  const target: CsvTarget = { registry, module: task, action: 'create' };
  const told = (titles: string, action: CsvTarget['action'] = 'create'): string[] => {
    try {
      readHeader({ ...target, action }, { cells: titles.split(','), line: 1 });
      return [];
    } catch (error) {
      if (!isAppError(error)) throw error;
      return error.details.fields?.map(({ message }) => message) ?? [];
    }
  };

  test('names columns by fields, in any case, and by what names the records in references', () => {
    for (const titles of [
      'title,dueAt',
      'TITLE,due_at',
      'title,assigneeEmail,parentDisplayId',
      'title,type_name,parent_external_id',
    ])
      expect(told(titles)).toEqual([]);
  });

  test('is refused with all its problems', () => {
    expect(told('titel')[0]).toMatch(
      /^line 1, column "titel": is not a known column \(did you mean "title"\?\); known columns are .*title/,
    );
    expect(told('titel')[1]).toBe('line 1, column "title": is missing');
    expect(told('title,')).toEqual(['line 1: column 2 has no name']);
    expect(told('title,Title')).toEqual(['line 1, column "Title": occurs more than once']);
    expect(told('title,assigneeId,assigneeEmail')).toEqual([
      'line 1, column "assigneeEmail": says the same as the column "assigneeId"; leave out one',
    ]);
    expect(told('title;details')).toEqual(['line 1: cells are separated by ";"; use commas']);
    expect(told('title', 'update')).toEqual([
      'line 1: the column "id" or "displayId" is missing; it says which record changes',
    ]);
    expect(told('id,id,title', 'update')).toEqual(['line 1, column "id": occurs more than once']);
    expect(told('displayId,id,title', 'update'), 'as exports have them').toEqual([]);
  });

  test('may have what only the server sets, which is ignored', () => {
    expect(told('id,displayId,createdAt,title')).toEqual([]);
    const columns = readHeader(target, { cells: ['id', 'title'], line: 1 });
    expect(readCells(columns, [{ cells: ['x', 'a'], line: 2 }]).inputs).toEqual([{ title: 'a' }]);
  });
});

describe('templates', () => {
  test.each(
    registry.modules.filter(({ mutate = [], expose }) => mutate.includes('create') && Object.keys(expose).length > 0),
  )('of $kind can be filled in and imported', async (module) => {
    const target: CsvTarget = { registry, module, action: 'create' };
    const [header, example] = await rowsOf(csvTemplate(target, 'example'));
    const columns = readHeader(target, header);
    const { inputs, problems } = readCells(columns, example ? [example] : []);
    expect(problems).toEqual([]);
    const references = writableFields(module).filter(
      ([, field]) => isRequired(field) && ['reference', 'file'].includes(field.type),
    );
    const known = references.map(([name]) => ({ path: `/0/${name}`, message: 'is invented' }));
    const input = Object.fromEntries(
      Object.entries(inputs[0] ?? {}).filter(([name]) => !references.some(([other]) => other === name)),
    );
    const wrong = (() => {
      try {
        validateCreations([{ module, path: '/0', input }], known);
        return [];
      } catch (error) {
        if (!isAppError(error)) throw error;
        return error.details.fields?.filter(({ message }) => message !== 'is invented') ?? [];
      }
    })();
    // The tenancy is added by the data layer.
    expect(wrong.filter(({ path }) => !path.endsWith('/organizationId') && !path.endsWith('/userId'))).toEqual([]);
  });

  test('say what the cells can be', () => {
    const target: CsvTarget = { registry, module: task, action: 'update' };
    const [header = '', values = ''] = csvTemplate(target, 'values').split('\r\n');
    expect(header).toContain('displayId,title');
    expect(header).toContain('assigneeEmail');
    expect(header).not.toContain('assigneeId');
    expect(values).toContain('required: says which record changes');
    expect(values).toContain('open | in_progress | in_review | completed | wont_do');
    expect(values).toContain('whole number from 0 to 100');
  });
});
