import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  readonly name: string;
  readonly content: string | Buffer;
  /** Stored as it is; compressed if left out. */
  readonly isStored?: boolean;
  /** Size and checksum stand behind the content, as in archives that are written while they are sent. */
  readonly hasDescriptor?: boolean;
}

/** A ZIP archive of entries in this order. */
export function zipArchive(entries: readonly ZipEntry[], comment = ''): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, isStored = false, hasDescriptor = false } of entries) {
    const plain = Buffer.from(content);
    const bytes = isStored ? plain : deflateRawSync(plain);
    const sums = Buffer.alloc(12);
    sums.writeUInt32LE(crc32(plain), 0);
    sums.writeUInt32LE(bytes.length, 4);
    sums.writeUInt32LE(plain.length, 8);
    const about = Buffer.alloc(10);
    about.writeUInt16LE(20, 0);
    about.writeUInt16LE(hasDescriptor ? 8 : 0, 2);
    about.writeUInt16LE(isStored ? 0 : 8, 4);
    const lengths = Buffer.alloc(4);
    lengths.writeUInt16LE(Buffer.byteLength(name), 0);
    const entry = [
      Buffer.from('PK\u0003\u0004'),
      about,
      hasDescriptor ? Buffer.alloc(12) : sums,
      lengths,
      Buffer.from(name),
      bytes,
      ...(hasDescriptor ? [Buffer.from('PK\u0007\u0008'), sums] : []),
    ];
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(
      Buffer.concat([Buffer.from('PK\u0001\u0002\u0014\u0000'), about, sums, lengths, place, Buffer.from(name)]),
    );
    parts.push(Buffer.concat(entry));
    offset += parts.at(-1)?.length ?? 0;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(Buffer.concat(directory).length, 8);
  end.writeUInt32LE(offset, 12);
  end.writeUInt16LE(Buffer.byteLength(comment), 16);
  return Buffer.concat([...parts, ...directory, Buffer.from('PK\u0005\u0006'), end, Buffer.from(comment)]);
}

/** The part of an Office document that says what it is. */
export function contentTypes(main: string): ZipEntry {
  const content = `<?xml version="1.0"?><Types><Default Extension="xml" ContentType="application/xml"/><Override PartName="/main.xml" ContentType="${main}.main+xml"/></Types>`;
  return { name: '[Content_Types].xml', content };
}
