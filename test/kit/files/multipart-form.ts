export interface FormPart {
  readonly field: string;
  /** Left out: a text, not a file. */
  readonly name?: string;
  readonly type?: string;
  readonly content: string | Buffer;
}

/** A body of the type multipart/form-data, with its type; names are sent as they are given. */
export function formOf(parts: readonly FormPart[]): { readonly payload: Buffer; readonly type: string } {
  const boundary = 'form-of-a-test';
  const bytes = parts.flatMap(({ field, name, type, content }) => {
    const file = name === undefined ? '' : `; filename="${name}"`;
    const contentType = type === undefined ? '' : `\r\nContent-Type: ${type}`;
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${field}"${file}${contentType}\r\n\r\n`;
    return [Buffer.from(head), Buffer.from(content), Buffer.from('\r\n')];
  });
  const payload = Buffer.concat([...bytes, Buffer.from(`--${boundary}--\r\n`)]);
  return { payload, type: `multipart/form-data; boundary=${boundary}` };
}
