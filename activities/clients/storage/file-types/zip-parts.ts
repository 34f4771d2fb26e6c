import { fileTypeFromBuffer } from 'file-type';

/** Parts of office documents that say what the document is: of Office Open XML, and of OpenDocument and EPUB. */
const tellingParts = ['[Content_Types].xml', 'mimetype'].map((name) => Buffer.from(name));

/** Most bytes that are kept of such a part, with its header. It is shorter in all documents; its end shows only behind it. */
const maxPartBytes = 65_536;

/** Most parts that are kept at the same time, and most that are read: archives inside of the archive have such parts, too. */
const maxOpen = 4;
const maxRead = 100;

const localHeaderBytes = 30;
const directoryHeaderBytes = 46;
const endBytes = 22;

/** Bytes behind a signature that must be there to read its header and the name. */
const lookAhead = directoryHeaderBytes + Math.max(...tellingParts.map(({ length }) => length));

const localHeader = 0x04034b50;
const directoryHeader = 0x02014b50;
const endOfDirectory = 0x06054b50;

interface OpenPart {
  readonly offset: number;
  readonly pieces: Buffer[];
  missing: number;
}

/**
 * Reads what office document an archive is while its bytes pass, wherever the part that says so stands. Its directory, at the end of
 * the archive, decides which of the parts with that name belong to it.
 */
export class ZipParts {
  #carried: Buffer = Buffer.alloc(0);
  /** Offset of the carried bytes. */
  #offset = 0;
  #open: OpenPart[] = [];
  /** Types by the offsets of the parts that say them. */
  readonly #types = new Map<number, string | undefined>();
  /** Offsets of the last entry of a directory about each of these parts. */
  readonly #listed = new Map<number, number>();
  #end: { readonly at: number; readonly directoryAt: number; readonly commentBytes: number } | undefined;

  async add(piece: Buffer): Promise<void> {
    for (const part of this.#open) take(part, piece);
    const bytes = Buffer.concat([this.#carried, piece]);
    const kept = Math.min(bytes.length, lookAhead - 1);
    this.#read(bytes, bytes.length - kept);
    this.#carried = bytes.subarray(bytes.length - kept);
    this.#offset += bytes.length - kept;
    await this.#close(({ missing }) => missing === 0);
  }

  /** @returns undefined for an archive that is no office document */
  async finish(): Promise<string | undefined> {
    const size = this.#offset + this.#carried.length;
    this.#read(Buffer.concat([this.#carried, Buffer.alloc(lookAhead)]), this.#carried.length);
    await this.#close(() => true);
    const end = this.#end;
    if (!end || end.at + endBytes + end.commentBytes !== size) return undefined;
    const own = [...this.#types].filter(([part]) => (this.#listed.get(part) ?? -1) >= end.directoryAt);
    return own.map(([, type]) => type).find((type) => type !== undefined && type !== 'application/zip');
  }

  /** Reads the signatures that begin before an index. */
  #read(bytes: Buffer, before: number): void {
    for (let at = bytes.indexOf('PK'); at >= 0 && at < before; at = bytes.indexOf('PK', at + 2)) {
      const signature = bytes.readUInt32LE(at);
      const offset = this.#offset + at;
      if (signature === localHeader && isTelling(bytes, at + localHeaderBytes, bytes.readUInt16LE(at + 26)))
        this.#openPart(bytes.subarray(at), offset);
      else if (
        signature === directoryHeader &&
        isTelling(bytes, at + directoryHeaderBytes, bytes.readUInt16LE(at + 28))
      )
        this.#list(bytes.readUInt32LE(at + 42), offset);
      else if (signature === endOfDirectory)
        this.#end = { at: offset, directoryAt: bytes.readUInt32LE(at + 16), commentBytes: bytes.readUInt16LE(at + 20) };
    }
  }

  #openPart(bytes: Buffer, offset: number): void {
    if (this.#open.length >= maxOpen || this.#types.size >= maxRead) return;
    const part = { offset, pieces: [], missing: maxPartBytes };
    take(part, bytes);
    this.#open.push(part);
  }

  #list(part: number, at: number): void {
    if (this.#types.has(part) || this.#open.some(({ offset }) => offset === part)) this.#listed.set(part, at);
  }

  async #close(isOver: (part: OpenPart) => boolean): Promise<void> {
    const over = this.#open.filter(isOver);
    this.#open = this.#open.filter((part) => !isOver(part));
    // Read as an archive that begins with the part.
    for (const { offset, pieces } of over)
      this.#types.set(offset, (await fileTypeFromBuffer(Buffer.concat(pieces)))?.mime);
  }
}

/** Copies what the part lacks: the memory of pieces is used again. */
function take(part: OpenPart, bytes: Buffer): void {
  const taken = Buffer.from(bytes.subarray(0, part.missing));
  part.missing -= taken.length;
  part.pieces.push(taken);
}

function isTelling(bytes: Buffer, at: number, length: number): boolean {
  return tellingParts.some((name) => name.length === length && bytes.subarray(at, at + length).equals(name));
}
