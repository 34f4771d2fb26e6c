import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '#entities/kit/base/ids.ts';
import type { BudgetShare } from './memory-budget.ts';
import { StorageError, type PartBody } from './provider.ts';

/** Pieces below this size are copied together: a client that sends single bytes would cost a buffer for each. */
const smallBytes = 16_384;
const blockBytes = 65_536;

/** Where the parts of one upload are held until a provider has them. */
export interface PartRoom {
  readonly budget: BudgetShare;
  /** Folder of temporary files; it is made when it is needed. */
  readonly folder: string;
}

/** Bytes of one part: in memory while the budget allows it, else in a temporary file. */
export class HeldPart {
  readonly #room: PartRoom;
  readonly #maxBytes: number;
  readonly #signal: AbortSignal;
  #pieces: Buffer[] = [];
  /** The last piece, while small pieces are copied into it. */
  #block: { readonly buffer: Buffer; used: number } | undefined;
  #memory = 0;
  #file: FileHandle | undefined;
  #isRoomTaken = false;
  #size = 0;

  constructor(room: PartRoom, maxBytes: number, signal: AbortSignal) {
    this.#room = room;
    this.#maxBytes = maxBytes;
    this.#signal = signal;
  }

  get sizeBytes(): number {
    return this.#size;
  }

  get body(): PartBody {
    if (this.#file) return { file: this.#file, start: 0, end: this.#size };
    this.#closeBlock();
    return this.#pieces;
  }

  async add(piece: Buffer): Promise<void> {
    if (!this.#file && !this.#keep(piece)) await this.#moveToFile();
    if (this.#file) await writeAll(this.#file, piece);
    this.#size += piece.length;
  }

  /** Gives back what it holds; it can be repeated. */
  async release(): Promise<void> {
    this.#giveBackMemory();
    const file = this.#file;
    this.#file = undefined;
    if (this.#isRoomTaken) this.#room.budget.giveBackFile(this.#maxBytes);
    this.#isRoomTaken = false;
    await file?.close();
  }

  /** @returns whether there was memory for it */
  #keep(piece: Buffer): boolean {
    const { budget } = this.#room;
    if (piece.length >= smallBytes) {
      if (!budget.takeMemory(piece.length)) return false;
      this.#memory += piece.length;
      this.#closeBlock();
      this.#pieces.push(piece);
      return true;
    }
    if (!this.#block || this.#block.used + piece.length > blockBytes) {
      if (!budget.takeMemory(blockBytes)) return false;
      this.#memory += blockBytes;
      this.#closeBlock();
      this.#block = { buffer: Buffer.allocUnsafeSlow(blockBytes), used: 0 };
    }
    this.#block.used += piece.copy(this.#block.buffer, this.#block.used);
    return true;
  }

  #closeBlock(): void {
    if (this.#block) this.#pieces.push(this.#block.buffer.subarray(0, this.#block.used));
    this.#block = undefined;
  }

  async #moveToFile(): Promise<void> {
    const { budget, folder } = this.#room;
    await budget.takeFile(this.#maxBytes, this.#signal);
    this.#isRoomTaken = true;
    this.#file = await openUnnamed(folder);
    this.#closeBlock();
    for (const piece of this.#pieces) await writeAll(this.#file, piece);
    this.#giveBackMemory();
  }

  #giveBackMemory(): void {
    this.#room.budget.giveBackMemory(this.#memory);
    this.#memory = 0;
    this.#pieces = [];
    this.#block = undefined;
  }
}

/** A file that is gone when it is closed, also by the end of the process. */
async function openUnnamed(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, newId());
  const file = await open(path, 'wx+', 0o600);
  await rm(path);
  return file;
}

/** @throws StorageError full, when the disk is */
async function writeAll(file: FileHandle, piece: Buffer): Promise<void> {
  try {
    for (let written = 0; written < piece.length;)
      written += (await file.write(piece, written, piece.length - written)).bytesWritten;
  } catch (cause) {
    throw new StorageError('full', 'A temporary file cannot be written.', { cause });
  }
}
