import { mkdtempSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { checkDeclaredType } from '#activities/clients/storage/file-types/detect-type.ts';
import { FileTypes } from '#activities/clients/storage/file-types/file-types.ts';
import { Measurement, type ExpectedFile } from '#activities/clients/storage/receiving/measurement.ts';
import { mebibyte, sizeText } from '#entities/kit/base/mebibyte.ts';
import { acceptedTypes } from '#entities/kit/model/files/accepted-types.ts';
import { contentTypes, zipArchive, type ZipEntry } from '../kit/files/zip-archive.ts';
import { shows } from '../kit/shows.ts';

const mime = { enabled: true, mimetypesfile: '', defaultcontenttype: 'application/octet-stream' };
const types = new FileTypes(() => mime);

const root = mkdtempSync(join(tmpdir(), 'core-file-types-'));
afterAll(() => rm(root, { recursive: true, force: true }));

/** The type that a file has that arrives in pieces. */
async function detectType(
  content: Buffer,
  declared: ExpectedFile,
  known: FileTypes = types,
  accept?: readonly string[],
  pieceBytes = 10_000,
): Promise<string> {
  const measurement = new Measurement(declared, { maxBytes: 10 * mebibyte, accept }, known);
  for (let at = 0; at < content.length; at += pieceBytes)
    await measurement.add(Buffer.from(content.subarray(at, at + pieceBytes)));
  return (await measurement.finish()).contentType;
}

const zip = Buffer.from('504b0304140000000000000000000000000000000000000000000000', 'hex');
const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');

describe('the type', () => {
  for (const [content, name, declared, type] of [
    ['hello', 'a.txt', undefined, 'text/plain'],
    ['hello', 'a', 'application/octet-stream', 'text/plain'],
    ['a,b', 'a.csv', 'text/csv', 'text/csv'],
    ['a,b', 'A.CSV', 'application/vnd.ms-excel', 'text/csv'],
    ['{}', 'a.json', 'application/json; charset=utf-8', 'application/json'],
    ['a: 1', 'a.yml', 'text/yaml', 'application/yaml'],
    ['# x', 'a.md', 'text/x-markdown', 'text/markdown'],
    ['\uFEFFhello', 'a.txt', 'text/plain', 'text/plain'],
    [Buffer.from('\uFEFFhello', 'utf16le'), 'a.txt', 'text/plain', 'text/plain'],
    ['%PDF-1.7\n', 'a.pdf', 'application/pdf', 'application/pdf'],
    [png, 'a.png', 'image/png', 'image/png'],
    [zip, 'a.zip', 'application/x-zip-compressed', 'application/zip'],
    [zip, 'a.docx', undefined, 'application/zip'],
    [' <!DOCTYPE html><p>', 'a.txt', 'text/plain', 'text/html'],
    ['<script>alert(1)</script>', 'a.csv', 'text/csv', 'text/html'],
    [
      '<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "b">]><!-- x --><svg xmlns="x"/>',
      'a.xml',
      undefined,
      'image/svg+xml',
    ],
    ['<!-- drawn --><svg onload="alert(1)">', 'a.svg', 'image/svg+xml', 'image/svg+xml'],
    ['<s:svg xmlns:s="http://www.w3.org/2000/svg"/>', 'a.txt', undefined, 'image/svg+xml'],
    ['<?xml version="1.0"?><html xmlns="x"/>', 'a.xml', undefined, 'application/xhtml+xml'],
    ['<?xml version="1.0"?><a/>', 'a.xml', 'text/xml', 'application/xml'],
    [Buffer.from([1, 2, 3, 0, 9]), 'a', undefined, 'application/octet-stream'],
    ['<!---->'.repeat(9_000), 'a.txt', undefined, 'text/plain'],
    ['<!---->'.repeat(10_000), 'a.txt', undefined, 'text/html'],
    ['<!---->', 'a', undefined, 'text/html'],
    ['<!-- x --><!DOCTYPE html><p>', 'a.md', undefined, 'text/html'],
    ['<!-- x --><script>', 'a.md', undefined, 'text/html'],
    ['<!-- x --><svg onload="alert(1)">', 'a.md', undefined, 'image/svg+xml'],
    ['<!-- x -->\n# Title', 'a.md', 'text/markdown', 'text/markdown'],
    ['<h1 align="center">Title</h1>', 'a.md', undefined, 'text/markdown'],
    ['<h1>Title</h1>', 'a', undefined, 'text/html'],
    ['<?xml version="1.0"?><a/>', 'a.txt', undefined, 'text/plain'],
    ['BMW,3\n', 'cars.csv', 'text/csv', 'text/csv'],
    ['ID3 tags', 'a.txt', undefined, 'text/plain'],
    ['MZ hello', 'a.txt', undefined, 'text/plain'],
    ['%PDF-1.7 is a header', 'a.md', undefined, 'text/markdown'],
    ['{\\rtf1 hello}', 'a.txt', undefined, 'text/plain'],
    ['\uFEFFBMW,3\n', 'cars.csv', undefined, 'text/csv'],
    [Buffer.from('\uFEFFBMW,3\n', 'utf16le'), 'cars.csv', undefined, 'text/csv'],
    [Buffer.from('\uFEFFBMW,3\n', 'utf16le').swap16(), 'cars.csv', undefined, 'text/csv'],
    ['\u00e9'.repeat(40_000), 'a.txt', undefined, 'text/plain'],
    [`BMW${'\u00e9'.repeat(40_000)}`, 'a.csv', undefined, 'text/csv'],
    [`${'x'.repeat(1_019)}%PDF-1.7\n`, 'a.pdf', undefined, 'application/pdf'],
    ['BMW %PDF-1.7\n', 'a.pdf', 'application/pdf', 'application/pdf'],
    [`HTTP/1.1 200 OK\r\n\r\n%PDF-1.7\n\0\u0001`, 'a', undefined, 'application/pdf'],
    // Extensions of other types that texts have, too: movies, keynotes, templates of Office, programs.
    ['const x = 1;', 'a.ts', undefined, 'text/plain'],
    ['-----BEGIN PRIVATE KEY-----', 'private.key', undefined, 'text/plain'],
    ['digraph { a -> b }', 'a.dot', undefined, 'text/plain'],
    ['msgid ""', 'messages.pot', undefined, 'text/plain'],
    ['echo off', 'a.bat', undefined, 'text/plain'],
    ['int x;', 'main.c', undefined, 'text/plain'],
    ['a = 1', 'a.conf', undefined, 'text/plain'],
    // Extensions that binary files have as well as texts.
    ['hello', 'a.list', undefined, 'text/plain'],
    [png, 'a.list', undefined, 'image/png'],
    [Buffer.from([1, 2, 3, 0, 9]), 'a.in', undefined, 'application/octet-stream'],
    [Buffer.from([1, 2, 3, 0, 9]), 'a.def', undefined, 'application/octet-stream'],
    ['{}\n{}\n', 'a.jsonl', undefined, 'application/x-ndjson'],
    ['BEGIN:VCARD\r\n', 'a.vcf', 'text/x-vcard', 'text/vcard'],
  ] as const)
    test(`of ${name}, sent as ${declared ?? 'nothing'}, is ${type}: ${String(content).slice(0, 20)}`, async () => {
      expect(await detectType(Buffer.from(content), { name, type: declared }, types)).toBe(type);
    });

  for (const [content, name, declared] of [
    ['%PDF-1.7\n', 'a.png', undefined],
    ['hello', 'a.png', undefined],
    ['hello', 'a', 'image/png'],
    [png, 'a.txt', undefined],
    [png, 'a.jpg', 'image/png'],
    [png, 'a.png', 'text/html'],
    [Buffer.from('MZ\0hello'), 'a.txt', undefined],
    [Buffer.from('BMW\0,3'), 'cars.csv', undefined],
    [Buffer.from('\uFEFFBMW\u0001', 'utf16le'), 'cars.csv', undefined],
    [`${'x'.repeat(1_020)}%PDF-1.7\n`, 'a.pdf', undefined],
    [zip, 'a.pdf', undefined],
  ] as const)
    test(`contradicts ${name}, sent as ${declared ?? 'nothing'}: ${String(content).slice(0, 10)}`, async () => {
      const detected = detectType(Buffer.from(content), { name, type: declared }, types);
      await expect(detected).rejects.toMatchObject({ code: 'file_type_refused' });
    });

  test('of a text in an older encoding that begins like something else is told to be saved as UTF-8', async () => {
    const text = Buffer.from('BMW;Größe\n', 'latin1');
    const named = detectType(text, { name: 'cars.csv', type: 'text/csv' });
    await expect(named).rejects.toThrow('It begins like image/bmp; if it is a text, save it as UTF-8.');
    expect(await detectType(text, { name: 'cars.bmp' })).toBe('image/bmp');
    expect(await detectType(Buffer.from('VW;Größe\n', 'latin1'), { name: 'cars.csv' })).toBe('text/csv');
  });

  test('must be in the list of the field', async () => {
    const allowed = ['image/png'];
    expect(await detectType(png, { name: 'a.png' }, types, allowed)).toBe('image/png');
    const html = detectType(Buffer.from('<html>'), { name: 'a.html' }, types, allowed);
    await expect(html).rejects.toThrow('Its content is text/html; allowed here are image/png.');
  });
});

describe('server.mime', () => {
  const typeOf = (settings: Partial<typeof mime>, content: string | Buffer, name: string) =>
    detectType(Buffer.from(content), { name }, new FileTypes(() => ({ ...mime, ...settings })));

  test('enabled: off, names say nothing about types', async () => {
    shows('server.mime.enabled');
    expect(await typeOf({ enabled: false }, 'a,b', 'a.csv')).toBe('text/plain');
    expect(await typeOf({ enabled: false }, 'a,b', 'a.png')).toBe('text/plain');
    expect(await typeOf({ enabled: true }, 'a,b', 'a.csv')).toBe('text/csv');
  });

  test('mimetypesfile: adds types of extensions, and must be readable', async () => {
    shows('server.mime.mimetypesfile');
    const mimetypesfile = join(root, 'mime.types');
    await writeFile(mimetypesfile, '# types\ntext/x-recipe  foo .BAR # food\n\n');
    expect(await typeOf({ mimetypesfile }, 'salt', 'a.foo')).toBe('text/x-recipe');
    expect(await typeOf({ mimetypesfile }, 'salt', 'a.bar')).toBe('text/x-recipe');
    expect(await typeOf({}, 'salt', 'a.foo')).toBe('text/plain');
    expect(() => new FileTypes(() => ({ ...mime, mimetypesfile: join(root, 'none') }))).toThrow(
      'cannot be read (ENOENT)',
    );
  });

  test('defaultcontenttype: is the type of what is neither text nor known', async () => {
    shows('server.mime.defaultcontenttype');
    const content = Buffer.from([1, 2, 3]);
    expect(await typeOf({ defaultcontenttype: 'application/x-unknown' }, content, 'a')).toBe('application/x-unknown');
    expect(await typeOf({}, content, 'a')).toBe('application/octet-stream');
  });
});

describe('an office document', () => {
  const base = 'application/vnd.openxmlformats-officedocument';
  const docx = `${base}.wordprocessingml.document`;
  const xlsx = `${base}.spreadsheetml.sheet`;
  const odt = 'application/vnd.oasis.opendocument.text';
  const picture = (name: string, sizeBytes = 150_000): ZipEntry => ({
    name,
    content: randomBytes(sizeBytes),
    isStored: true,
  });
  const inner = zipArchive([contentTypes(xlsx)]);

  for (const [what, name, entries, type] of [
    [
      'of which the telling part is the last one',
      'a.docx',
      [picture('media/1.png'), { name: 'word/document.xml', content: 'x' }, contentTypes(docx)],
      docx,
    ],
    ['of small parts, the telling one last', 'a.xlsx', [{ name: 'a.xml', content: 'x' }, contentTypes(xlsx)], xlsx],
    [
      'with descriptors behind its parts',
      'a.docx',
      [
        { ...picture('media/1.png'), hasDescriptor: true },
        { ...contentTypes(docx), hasDescriptor: true },
        picture('media/2.png'),
      ],
      docx,
    ],
    [
      'whose telling part is stored as it is',
      'a.docx',
      [picture('media/1.png'), { ...contentTypes(docx), isStored: true }],
      docx,
    ],
    [
      'that has another one in it',
      'a.docx',
      [
        picture('media/1.png'),
        { name: 'embedded.xlsx', content: inner, isStored: true },
        contentTypes(docx),
        { name: 'more.xlsx', content: inner, isStored: true },
      ],
      docx,
    ],
    [
      'of OpenDocument, its type behind its content',
      'a.odt',
      [picture('Pictures/1.png'), { name: 'mimetype', content: odt }],
      odt,
    ],
    [
      'of OpenDocument, as it should be',
      'a.odt',
      [{ name: 'mimetype', content: odt, isStored: true }, picture('Pictures/1.png')],
      odt,
    ],
  ] as const)
    for (const pieceBytes of [1_000, 65_536])
      test(`${what}, in pieces of ${pieceBytes} bytes`, async () => {
        const accept = acceptedTypes({ accept: 'evidence' }).filter((each) => each !== 'application/zip');
        expect(await detectType(zipArchive(entries), { name }, types, accept, pieceBytes)).toBe(type);
        expect(await detectType(zipArchive(entries, 'a comment'), { name }, types, accept, pieceBytes)).toBe(type);
      });

  test('is found in single bytes, too', async () => {
    const archive = zipArchive([picture('media/1.png', 70_000), contentTypes(docx)]);
    expect(await detectType(archive, { name: 'a.docx' }, types, [docx], 1)).toBe(docx);
  });

  test('that is one only in an archive inside of it, or behind its end, is an archive', async () => {
    const archive = zipArchive([
      picture('1.png'),
      { name: 'a.docx', content: zipArchive([contentTypes(docx)]), isStored: true },
    ]);
    expect(await detectType(archive, { name: 'a.zip' })).toBe('application/zip');
    await expect(detectType(archive, { name: 'a.docx' }, types, [docx])).rejects.toThrow(
      'Its content is application/zip',
    );
    const appended = Buffer.concat([zipArchive([picture('1.png')]), zipArchive([contentTypes(docx)])]);
    expect(await detectType(appended, { name: 'a.zip' })).toBe('application/zip');
  });

  test('with macros is none without, wherever its parts stand', async () => {
    const macros = zipArchive([picture('1.png'), contentTypes('application/vnd.ms-word.document.macroEnabled')]);
    await expect(detectType(macros, { name: 'a.docx' })).rejects.toThrow('macroenabled');
  });

  test('is refused at its beginning where no archive is accepted', async () => {
    const measurement = new Measurement({ name: 'a' }, { maxBytes: mebibyte, accept: ['image/png'] }, types);
    await expect(measurement.add(zipArchive([picture('1.png')]))).rejects.toMatchObject({ code: 'file_type_refused' });
  });

  const old = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600)]);
  for (const [name, advice] of [
    ['a.doc', 'format of Office that is not accepted; open it there and save it as .docx or .pdf.'],
    ['a.xls', 'save it as .xlsx or .csv or .pdf.'],
    ['a.ppt', 'save it as .pdf.'],
    ['a.msg', 'format of Outlook that is not accepted; open it there and save it as .pdf or .txt.'],
    ['a', 'save it as .docx or .xlsx or .pdf.'],
  ] as const)
    test(`of an old format, ${name}, is told what to save it as`, async () => {
      const accept = acceptedTypes({ accept: 'evidence' });
      await expect(detectType(old, { name }, types, accept)).rejects.toThrow(advice);
    });

  test('of an old format is refused by its name alone, and where nothing helps as any other', async () => {
    const png = ['image/png'];
    expect(() => checkDeclaredType({ name: 'a.ppt' }, types, acceptedTypes({ accept: 'evidence' }))).toThrow(
      'save it as .pdf.',
    );
    expect(() => checkDeclaredType({ name: 'a.doc' }, types, png)).toThrow(
      'Its name says application/msword; allowed here are image/png.',
    );
    await expect(detectType(old, { name: 'a.ppt' })).rejects.toThrow('save it as .pptx or .pdf.');
    await expect(detectType(old, { name: 'a.doc' }, types, png)).rejects.toThrow('Its name says application/msword');
  });
});

test('sizes are told in megabytes as settings count them', () => {
  expect([30 * mebibyte, 1.5 * mebibyte, mebibyte, 2_048, 1_000].map(sizeText)).toEqual([
    '30 MB',
    '1.5 MB',
    '1 MB',
    '2 KB',
    '1000 bytes',
  ]);
});
