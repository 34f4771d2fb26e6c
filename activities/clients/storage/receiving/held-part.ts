import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '#entities/kit/base/ids.ts';
import { blockBytes, type BudgetShare } from './memory-budget.ts';
import { StorageError, type PartBody } from '../provider.ts';

/** Where the parts of one upload are held until a provider has them. */
export interface PartRoom {
  readonly budget: BudgetShare;
  /** Folder of temporary files; it is made when it is needed. */
  readonly folder: string;
}

/** Bytes of one part: copied into memory while the budget allows it, else in a temporary file. */
export class HeldPart {
  readonly #room: PartRoom;
  readonly #maxBytes: number;
  readonly #signal: AbortSignal;
  /** All but the last are full. */
  #blocks: Buffer[] = [];
  #file: FileHandle | undefined;
  #isRoomTaken = false;
  #isRead = false;
  #size = 0;

  constructor(room: PartRoom, maxBytes: number, signal: AbortSignal) {
    this.#room = room;
    this.#maxBytes = maxBytes;
    this.#signal = signal;
  }

  get sizeBytes(): number {
    return this.#size;
  }

  /** Its readers read it until `stored`. */
  get body(): PartBody {
    if (this.#file) return { file: this.#file, start: 0, end: this.#size };
    this.#isRead = true;
    return this.#inMemory();
  }

  async add(piece: Buffer): Promise<void> {
    if (!this.#file && !this.#keep(piece)) await this.#moveToFile();
    if (this.#file) await writeAll(this.#file, piece);
    this.#size += piece.length;
  }

  /** The provider has the body, so nobody reads it any more. */
  stored(): void {
    this.#isRead = false;
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
    const missing = Math.ceil((this.#size + piece.length) / blockBytes) - this.#blocks.length;
    const more = missing > 0 ? this.#room.budget.takeBlocks(missing) : [];
    if (!more) return false;
    this.#blocks.push(...more);
    for (let copied = 0; copied < piece.length;) {
      const at = this.#size + copied;
      copied += piece.copy(this.#blocks[Math.floor(at / blockBytes)] as Buffer, at % blockBytes, copied);
    }
    return true;
  }

  #inMemory(): Buffer[] {
    return this.#blocks.map((block, index) => block.subarray(0, this.#size - index * blockBytes));
  }

  async #moveToFile(): Promise<void> {
    const { budget, folder } = this.#room;
    await budget.takeFile(this.#maxBytes, this.#signal);
    this.#isRoomTaken = true;
    this.#file = await openUnnamed(folder);
    for (const piece of this.#inMemory()) await writeAll(this.#file, piece);
    this.#giveBackMemory();
  }

  #giveBackMemory(): void {
    const blocks = this.#blocks;
    this.#blocks = [];
    // A request that was given up may continue to read its body for a while.
    this.#room.budget.giveBackBlocks(blocks, !this.#isRead);
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
