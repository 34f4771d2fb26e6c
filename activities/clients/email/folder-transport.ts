import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { digestOf, mailFolder } from './mail-folder.ts';
import type { EmailTransport, OutgoingEmail } from './transport.ts';

/**
 * Writes mails as MIME files below a folder, one folder per recipient: development and tests read them there
 * (`integrations.email.testdir`). The file is named by the id, so repeating an attempt replaces the same file.
 */
export class FolderTransport implements EmailTransport {
  readonly carrier = 'folder';
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  bodyOf({ id, from, to, subject, text, html, headers }: OutgoingEmail): string {
    return JSON.stringify({ id, from, to, subject, text, html, headers });
  }

  async send({ id, to }: OutgoingEmail, body: string): Promise<string> {
    // As `bodyOf` made it.
    const { headers, ...message } = JSON.parse(body) as OutgoingEmail;
    const folder = mailFolder(this.#folder, to);
    await mkdir(folder, { recursive: true });
    const name = digestOf(id);
    const composer = new MailComposer({
      ...message,
      messageId: `<${name}@core>`,
      headers: { ...headers, 'x-idempotency-key': id },
    });
    const file = join(folder, `${name}.eml`);
    const draft = `${file}.${process.pid}.draft`;
    await writeFile(draft, await composer.compile().build());
    failpoint('email-before-write');
    await rename(draft, file);
    failpoint('email-after-write');
    return name;
  }

  /** Writing the same file again changes nothing. */
  find(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  release(): Promise<void> {
    return Promise.resolve();
  }
}
