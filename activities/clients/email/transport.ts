import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import { AppError } from '#entities/kit/base/errors.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { digestOf, mailFolder } from './mail-folder.ts';

export interface OutgoingEmail {
  /** Idempotency key: a second attempt with the same key has no effect for the recipient. */
  readonly key: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export interface EmailTransport {
  /** @throws when the mail was not accepted; the attempt may be repeated */
  send(email: OutgoingEmail): Promise<void>;
}

/**
 * Writes mails as MIME files below a folder, one folder per recipient: development and tests read them there
 * (`integrations.email.testdir`). The file is named by the key, so repeating an attempt replaces the same file.
 */
export class FolderTransport implements EmailTransport {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async send({ key, ...message }: OutgoingEmail): Promise<void> {
    const folder = mailFolder(this.#folder, message.to);
    await mkdir(folder, { recursive: true });
    const composer = new MailComposer({
      ...message,
      messageId: `<${digestOf(key)}@core>`,
      headers: { 'x-idempotency-key': key },
    });
    const file = join(folder, `${digestOf(key)}.eml`);
    const draft = `${file}.${process.pid}.draft`;
    await writeFile(draft, await composer.compile().build());
    failpoint('email-before-write');
    await rename(draft, file);
    failpoint('email-after-write');
  }
}

/** Used while no mail provider is configured: sending fails with the reason, and is tried again. */
export class NoTransport implements EmailTransport {
  async send(): Promise<void> {
    throw new AppError(
      'workflows_unavailable',
      'No way to send mails is configured: turn on server.dev and set integrations.email.testdir. Other e-mail providers do not exist yet.',
    );
  }
}
