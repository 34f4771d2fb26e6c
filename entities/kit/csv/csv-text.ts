import { sizeText } from '../base/mebibyte.ts';
import { refuseDocument } from './csv-problems.ts';

/** First bytes of documents that are no text in UTF-8. */
const otherForms: readonly { readonly bytes: readonly number[]; readonly problem: string }[] = [
  { bytes: [0xff, 0xfe], problem: 'it is encoded in UTF-16; save it as CSV in UTF-8' },
  { bytes: [0xfe, 0xff], problem: 'it is encoded in UTF-16; save it as CSV in UTF-8' },
  { bytes: [0x50, 0x4b, 0x03, 0x04], problem: 'it is a workbook of a spreadsheet; save it as CSV in UTF-8' },
  { bytes: [0xd0, 0xcf, 0x11, 0xe0], problem: 'it is a workbook of a spreadsheet; save it as CSV in UTF-8' },
];

/** Stands for bytes that are not UTF-8. */
const wrongCharacter = '\uFFFD';

/**
 * The text of a document in UTF-8, with or without a byte order mark.
 * @throws AppError limit_exceeded beyond `maxBytes`; invalid_input for another encoding, with the line of the first wrong character
 */
export async function* decodedText(bytes: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8');
  let [size, line] = [0, 1];
  const checked = (text: string): string => {
    const at = text.indexOf(wrongCharacter);
    const lines = lineEnds(at < 0 ? text : text.slice(0, at));
    line += lines;
    if (at >= 0)
      refuseDocument(`line ${line}: a character is not UTF-8 (is it Latin-1?); save the document as CSV in UTF-8`);
    return text;
  };
  for await (const chunk of withHead(bytes)) {
    if (size === 0) refuseOtherForm(chunk);
    size += chunk.length;
    if (size > maxBytes) refuseDocument(`it is larger than ${sizeText(maxBytes)}; split it`, 'limit_exceeded');
    yield checked(decoder.decode(chunk, { stream: true }));
  }
  // Bytes that are left are the beginning of a character.
  yield checked(decoder.decode());
}

/** Bytes that identify the form of a document. */
const headBytes = 4;

/** The same bytes; the first piece has enough of them. */
async function* withHead(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of bytes) {
    if (head === undefined) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < headBytes) continue;
    yield head;
    head = undefined;
  }
  if (head !== undefined && head.length > 0) yield head;
}

function refuseOtherForm(chunk: Buffer): void {
  const other = otherForms.find(({ bytes }) => bytes.every((byte, index) => chunk[index] === byte));
  if (other) refuseDocument(other.problem);
  // Letters of UTF-16 and UTF-32 without a mark have zero bytes.
  if (chunk.subarray(0, 4).includes(0)) refuseDocument('it is encoded in UTF-16 or UTF-32; save it as CSV in UTF-8');
}

/** A carriage return at the end is part of the line end of the next piece. */
function lineEnds(text: string): number {
  return text.match(/\n|\r(?!\n|$)/g)?.length ?? 0;
}
