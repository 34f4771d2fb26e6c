import { generateSecret, generateURI, verify } from 'otplib';
import { toString } from 'qrcode';

/** Seconds of a time step (RFC 6238, section 4.1), and by how much the clock of an authenticator app may differ. */
const stepS = 30;

export type CodeDigits = 6 | 7 | 8;

/** Data with which an authenticator app is set up. */
interface Enrollment {
  /** Base32. */
  readonly secret: string;
  /** `otpauth://totp/…`. */
  readonly uri: string;
  /** The same as a QR code: a data URI with an SVG image. */
  readonly qrCode: string;
}

/** @param issuer the server, as apps show it @param account of the person, as apps show it */
export async function newEnrollment(issuer: string, account: string, digits: CodeDigits): Promise<Enrollment> {
  const secret = generateSecret();
  const uri = generateURI({ issuer, label: account, secret, digits });
  const svg = await toString(uri, { type: 'svg', errorCorrectionLevel: 'M' });
  return { secret, uri, qrCode: `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}` };
}

/**
 * Finds the time step that a code is of: the current one, or one beside it.
 * @param lastUsedStep codes of this step and of earlier ones are refused (RFC 6238, section 5.2)
 * @returns undefined for a code that is wrong, expired or used
 */
export async function stepOfCode(
  code: string,
  { secret, digits, lastUsedStep }: { readonly secret: string; readonly digits: number; readonly lastUsedStep: number },
  now: Date,
): Promise<number | undefined> {
  // The library refuses other texts with errors of its own.
  if (!/^\d+$/.test(code) || code.length !== digits) return undefined;
  const epoch = Math.floor(now.getTime() / 1_000);
  const result = await verify({ secret, token: code, digits: digits, epoch, epochTolerance: stepS });
  return result.valid && 'timeStep' in result && result.timeStep > lastUsedStep ? result.timeStep : undefined;
}
