import { createHash } from 'node:crypto';
import { AppError } from '#entities/kit/base/errors.ts';
import { sizeText } from '#entities/kit/base/mebibyte.ts';
import type { Measured } from '#entities/kit/objects/stored-object.ts';
import type { DeclaredFile } from '#entities/kit/objects/upload-rows.ts';
import { checkType, headBytes, isArchive, typeOfContent } from '../file-types/detect-type.ts';
import type { FileTypes } from '../file-types/file-types.ts';
import { ZipParts } from '../file-types/zip-parts.ts';

/** Facts about a file before its bytes come. All of it comes from the client. */
export interface ExpectedFile extends Pick<DeclaredFile, 'name' | 'type' | 'sizeBytes'> {
  readonly sha256?: Buffer | undefined;
}

export interface FileLimits {
  readonly maxBytes: number;
  /** Allowed types; any if left out. */
  readonly accept?: readonly string[] | undefined;
}

/** Size, SHA-256 and type of bytes that pass. */
export class Measurement {
  readonly #expected: ExpectedFile;
  readonly #limits: FileLimits;
  readonly #types: FileTypes;
  readonly #hash = createHash('sha256');
  /** The first bytes, as long as the type is not known. */
  #head: Buffer | undefined = Buffer.allocUnsafeSlow(headBytes);
  #sizeBytes = 0;
  #contentType: string | undefined;
  /** Of an archive, from which it follows whether it is an office document. */
  #parts: ZipParts | undefined;

  constructor(expected: ExpectedFile, limits: FileLimits, types: FileTypes) {
    this.#expected = expected;
    this.#limits = limits;
    this.#types = types;
  }

  get maxBytes(): number {
    return this.#limits.maxBytes;
  }

  /** The type, once enough of the content is known; an archive can still turn out to be an office document. */
  get contentType(): string | undefined {
    return this.#contentType;
  }

  /** @throws AppError body_too_large, file_type_refused */
  async add(piece: Buffer): Promise<void> {
    this.#sizeBytes += piece.length;
    if (this.#sizeBytes > this.#limits.maxBytes) throw tooLarge(this.#limits.maxBytes);
    this.#hash.update(piece);
    if (!this.#head) {
      await this.#parts?.add(piece);
      return;
    }
    const copied = piece.copy(this.#head, this.#sizeBytes - piece.length);
    if (this.#sizeBytes < headBytes) return;
    await this.#detect(this.#head);
    await this.#parts?.add(piece.subarray(copied));
  }

  /** @throws AppError file_type_refused, invalid_input for an empty file, checksum_mismatch for one that was announced otherwise */
  async finish(): Promise<Measured> {
    if (this.#sizeBytes === 0) throw new AppError('invalid_input', 'The file is empty; send one with content.');
    if (this.#head) await this.#detect(this.#head.subarray(0, this.#sizeBytes));
    if (this.#parts) {
      this.#contentType = (await this.#parts.finish()) ?? this.#contentType;
      this.#check(true);
    }
    const sha256 = this.#hash.digest();
    const { sizeBytes: announced, sha256: claimed } = this.#expected;
    if (announced !== undefined && announced !== this.#sizeBytes)
      throw mismatch(`has ${this.#sizeBytes} bytes, but ${announced} were announced`);
    if (claimed && !claimed.equals(sha256))
      throw mismatch(`has the SHA-256 ${sha256.toString('hex')}, but ${claimed.toString('hex')} was announced`);
    return { sizeBytes: this.#sizeBytes, sha256, contentType: this.#contentType ?? this.#types.ofUnknown };
  }

  async #detect(head: Buffer): Promise<void> {
    this.#head = undefined;
    this.#contentType = await typeOfContent(head, this.#expected.name, this.#types);
    this.#parts = isArchive(this.#contentType) ? new ZipParts() : undefined;
    this.#check(!this.#parts);
    await this.#parts?.add(head);
  }

  #check(isFinal: boolean): void {
    const found = this.#contentType ?? this.#types.ofUnknown;
    checkType(found, this.#expected, this.#types, { allowed: this.#limits.accept, isFinal });
  }
}

export function tooLarge(maxBytes: number): AppError {
  return new AppError(
    'body_too_large',
    `The file is larger than ${sizeText(maxBytes)}, the most that is accepted here.`,
  );
}

function mismatch(reason: string): AppError {
  return new AppError('checksum_mismatch', `The file ${reason}; send the file again.`);
}
