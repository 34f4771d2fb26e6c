import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAppError } from '#entities/kit/base/errors.ts';
import { clearingCell, csvLine, isFormula, plainText, safeCell } from '#entities/kit/csv/csv-cells.ts';
import { readHeader, type CsvTarget } from '#entities/kit/csv/csv-columns.ts';
import { readCells } from '#entities/kit/csv/csv-changes.ts';
import { csvPages, csvRows, type CsvRow } from '#entities/kit/csv/csv-rows.ts';
import { csvTemplate } from '#entities/kit/csv/csv-template.ts';
import { cellOfValue, isEmptyCell, valueOfCell } from '#entities/kit/csv/csv-values.ts';
import type { Field } from '#entities/kit/model/declared-field.ts';
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
  const error: unknown = await rowsOf(pieces(source, source.length > megabyte ? 4_096 : 3), maxBytes).catch(
    (thrown: unknown) => thrown,
  );
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
    ['an open quotation', Buffer.from('title\n"a\n'), 'line 2: a quoted cell begins here and is not closed'],
    [
      'an open quotation behind others',
      Buffer.from('title,a\n"two\n""lines","o\npen\n""a,b\nc,d\n'),
      'line 3: a quoted cell begins here',
    ],
    ['a quotation that another one ends', Buffer.from('title\n"open\nb"c\n'), 'line 2: a quotation mark is misplaced'],
    [
      'an open quotation of more than a row',
      Buffer.from(`title\na\n"${'x\n'.repeat(600_000)}`),
      'line 3: a quoted cell begins here and is not closed within 1 MB',
    ],
    ['a stray quotation mark', Buffer.from('title\na\nb"c\n'), 'line 3: a quotation mark is misplaced'],
    [
      'too many cells',
      Buffer.from('title\na,b\n'),
      'line 2: the number of cells differs from the header; quote cells that have commas',
    ],
    [
      'too few cells',
      Buffer.from('a;b\n1;2\n3\n'),
      'line 3: the number of cells differs from the header; quote cells that have semicolons',
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
    for (const text of [...formulas, "'a", "it's", '5', '', 'a=b', "'", clearingCell, `'${clearingCell}`]) {
      const cell = safeCell(text);
      expect(plainText(cell)).toBe(text);
      expect(isFormula(cell)).toBe(false);
    }
    for (const text of formulas) expect(safeCell(text).startsWith("'")).toBe(true);
    expect(safeCell('plain')).toBe('plain');
  });

  test('are quoted where they must be', async () => {
    const texts = ['a,b', 'say "x"', 'two\nlines', ' spaced ', '', '=1,2', 'plain', 'a;b', 'a\tb'];
    const [row] = await rowsOf(csvLine(texts.map(safeCell)));
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
      expect(valueOfCell(field, cellOfValue(field, value))).toEqual(value);
    }
  });

  test('of an empty field leave nothing to a default or to the person who imports them', () => {
    expect(cellOfValue(task.fields.details, null)).toBe('');
    expect(cellOfValue(task.fields.assignerId, null)).toBe(clearingCell);
    expect(valueOfCell(task.fields.assignerId, clearingCell)).toBeNull();
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
    expect(told('title,Title')).toEqual(['line 1, column "Title": occurs more than once']);
    expect(told('title,assigneeId,assigneeEmail')).toEqual([
      'line 1, column "assigneeEmail": has the same meaning as the column "assigneeId"; leave out one',
    ]);
    expect(told('title', 'update')).toEqual([
      'line 1: the column "id" or "displayId" or "externalId" is missing; it identifies the record to change',
    ]);
    expect(told('id,id,title', 'update')).toEqual(['line 1, column "id": occurs more than once']);
    expect(told('displayId,id,title', 'update'), 'as exports have them').toEqual([]);
    expect(told('externalId,title', 'update')).toEqual([]);
  });

  test('may have what only the server sets, which is ignored', () => {
    expect(told('id,displayId,createdAt,title')).toEqual([]);
    const columns = readHeader(target, { cells: ['id', 'title'], line: 1 });
    expect(readCells(columns, [{ cells: ['x', 'a'], line: 2 }]).inputs).toEqual([{ title: 'a' }]);
  });
});

describe('columns and rows of spreadsheets', () => {
  const target: CsvTarget = { registry, module: task, action: 'create' };
  const read = async (text: string, action: CsvTarget['action'] = 'create') => {
    const [header, ...rows] = await rowsOf(text);
    return readCells(readHeader({ ...target, action }, header), rows);
  };

  test.each([';', '\t'])('are separated by %j where the header has no comma', async (delimiter) => {
    const text = 'title|priority|details\n"a|b"|7|one, two\n'.replaceAll('|', delimiter);
    for (const size of [1, 5, 1_000]) {
      const rows: CsvRow[] = [];
      for await (const row of csvRows(pieces(Buffer.from(text), size), megabyte)) rows.push(row);
      expect(rows[1]?.cells).toEqual([`a${delimiter}b`, '7', 'one, two']);
    }
  });

  test('a comma in the header makes commas the separators', async () => {
    expect((await read('title,details\na;b,c\td\n')).inputs).toEqual([{ title: 'a;b', details: 'c\td' }]);
  });

  test('without any value are left out, and lines are counted with them', async () => {
    const rows = await rowsOf('\n,,\ntitle,priority,,\n,,,\n\na,1,,\n , ,\nb,2,,,,\n,\n');
    expect(rows.map(({ line }) => line)).toEqual([3, 6, 8]);
    expect((await read('title,priority,,\n,,,\na,1,,\n,,\n')).inputs).toEqual([{ title: 'a', priority: 1 }]);
  });

  test('may lack the cells of columns without a name that the header ends with', async () => {
    const { inputs, problems } = await read('title,details,,\r\nA,B\r\nC,D,\r\n');
    expect(problems).toEqual([]);
    expect(inputs).toEqual([
      { title: 'A', details: 'B' },
      { title: 'C', details: 'D' },
    ]);
    await expect(rowsOf('title,details,\nA\n')).rejects.toThrow('the number of cells differs from the header');
  });

  test('a cell with a value in a column without a name is a problem', async () => {
    const { problems } = await read('title,,priority\na,x,1\n');
    expect(problems).toEqual([{ path: '/0/', message: 'column 2 has a value but no name; name it in the header' }]);
  });

  test('spaces around what is no text are dropped', async () => {
    const { inputs, problems } = await read(
      'title,priority,status,tags,dueAt,assigneeId\n a , 7 , Open , x ; y , 2026-01-31T12:00:00Z , 01J0000000000000000000000A \nb,  ,,,,\n',
    );
    expect(problems).toEqual([]);
    expect(inputs).toEqual([
      {
        title: ' a ',
        priority: 7,
        status: 'open',
        tags: ['x', 'y'],
        dueAt: new Date('2026-01-31T12:00:00Z'),
        assigneeId: '01J0000000000000000000000A',
      },
      { title: 'b' },
    ]);
  });

  test('a cell that empties its field is no empty cell, and no text', async () => {
    const { inputs, problems, lookups } = await read(
      String.raw`id,title,details,tags,assigneeEmail
x,,\N,\N,\N
x,'\N,,,
x,\N,,,
`,
      'update',
    );
    expect(inputs).toEqual([{ details: null, tags: [], assigneeId: null }, { title: clearingCell }, {}]);
    expect(problems).toEqual([
      { path: '/2/title', message: String.raw`cannot be emptied with \N; it always has a value` },
    ]);
    expect(lookups).toEqual([]);
  });

  test('the external id says which record changes where no other id does', async () => {
    const { keys, inputs } = await read("externalId,title\n'=1,a\n", 'update');
    expect([keys, inputs]).toEqual([['=1'], [{ title: 'a' }]]);
    const both = await read('externalId,id,title\ne,x,a\n', 'update');
    expect([both.keys, both.inputs]).toEqual([['x'], [{ externalId: 'e', title: 'a' }]]);
  });
});

describe('any value of any kind', () => {
  const fields = registry.modules.flatMap((module) =>
    Object.entries(module.fields).flatMap(([name, field]) => {
      const made = valuesOf(field);
      return made === undefined ? [] : [{ name: `${module.kind}.${name}`, field, made }];
    }),
  );

  test.each(fields)('comes back from its cell: $name', async ({ field, made }) => {
    await fc.assert(
      fc.asyncProperty(made, fc.constantFrom(1, 1_000), async (value, size) => {
        const rows: CsvRow[] = [];
        const line = Buffer.from(`${csvLine(['a', 'b'])}${csvLine([cellOfValue(field, value), 'x'])}`);
        for await (const row of csvRows(pieces(line, size), megabyte)) rows.push(row);
        const cell = rows[1]?.cells[0] ?? '';
        const read = isEmptyCell(field, cell)
          ? (field.default ?? (field.type === 'textList' ? [] : null))
          : valueOfCell(field, cell);
        expect(read instanceof Date ? read.toISOString() : read).toEqual(value);
      }),
      { numRuns: 20 },
    );
  });
});

/** Values of a field as answers have them; undefined for those that no cell has. */
function valuesOf(field: Field): fc.Arbitrary<unknown> | undefined {
  const text = fc.oneof(
    // PostgreSQL stores no U+0000.
    fc.string({ unit: 'binary' }).map((value) => value.replaceAll('\0', '')),
    fc.constantFrom('', "'", '=1', clearingCell, ' a', 'a\tb', '[a', 'a;b', 'null', '\r\n'),
  );
  const some = {
    text,
    textList: fc.array(text, { maxLength: 4 }),
    json: fc
      .jsonValue()
      .filter((value) => value !== null && !/__proto__|\\u0000/.test(JSON.stringify(value)))
      // JSON has no negative zero.
      .map((value): unknown => JSON.parse(JSON.stringify(value))),
    integer: fc.maxSafeInteger(),
    boolean: fc.boolean(),
    choice: fc.constantFrom(...(field.values ?? [''])),
    timestamp: fc
      .date({ noInvalidDate: true, min: new Date('1970-01-01'), max: new Date('9999-01-01') })
      .map((date) => date.toISOString()),
    decimal: fc.integer({ min: -1_000, max: 1_000 }).map((cents) => (cents / 100).toFixed(2)),
    date: fc.constant('2026-01-31'),
    reference: fc.constant('01J0000000000000000000000A'),
    file: undefined,
  }[field.type];
  return some && field.optional ? fc.option(some) : some;
}

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
