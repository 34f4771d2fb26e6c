/** Temporary files may hold this many times the memory. */
const filesPerMemory = 8;

/** Largest part of the memory, and of the temporary files, that one organization may hold. */
const organizationShare = 0.75;

/** Size of the blocks in which memory is lent, in bytes. */
export const blockBytes = 65_536;

/** The part of the budget that one organization may use, or one person where there is no organization. */
export interface BudgetShare {
  /** @returns so many blocks, whose content is arbitrary; undefined while there is no memory for them */
  readonly takeBlocks: (count: number) => Buffer[] | undefined;
  /** @param isFree whether nobody reads them any more: others write into them */
  readonly giveBackBlocks: (blocks: readonly Buffer[], isFree: boolean) => void;
  /** Takes room for a whole part, so that whoever has some never waits for more. @param signal ends the waiting, with its reason */
  readonly takeFile: (bytes: number, signal: AbortSignal) => Promise<void>;
  readonly giveBackFile: (bytes: number) => void;
}

interface Waiting {
  readonly owner: string;
  readonly bytes: number;
  readonly begin: () => void;
}

/**
 * Memory of one process for parts of uploads that are not stored yet (`objectstorage.maxmemorymb`). Bytes above it are written to temporary
 * files, which are limited, too: then uploads wait, and their clients with them. Blocks of memory are kept and lent again, because V8
 * collects buffers that have waited for a while only after many of them. One organization holds at most three quarters, so its stalled
 * uploads do not stop those of others; of those who wait, the organization that holds least comes first.
 */
export class MemoryBudget {
  readonly #limit: () => number;
  readonly #memory = new Holdings();
  readonly #files = new Holdings();
  readonly #free: Buffer[] = [];
  #waiting: Waiting[] = [];
  #peak = 0;
  #filesMade = 0;

  /** @param limit bytes; asked each time, because the setting can change */
  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /** Bytes held now, and the most that were held in memory; how many temporary files there have been; how many parts wait. */
  get usage(): Readonly<Record<'memory' | 'files' | 'peak' | 'filesMade' | 'waiting', number>> {
    return {
      memory: this.#memory.total,
      files: this.#files.total,
      peak: this.#peak,
      filesMade: this.#filesMade,
      waiting: this.#waiting.length,
    };
  }

  /** @param owner id of the organization, or of the person */
  shareOf(owner: string): BudgetShare {
    return {
      takeBlocks: (count) => this.#takeBlocks(owner, count),
      giveBackBlocks: (blocks, isFree) => this.#giveBackBlocks(owner, blocks, isFree),
      takeFile: (bytes, signal) => this.#takeFile(owner, bytes, signal),
      giveBackFile: (bytes) => {
        this.#files.add(owner, -bytes);
        this.#serve();
      },
    };
  }

  #takeBlocks(owner: string, count: number): Buffer[] | undefined {
    const limit = this.#limit();
    const bytes = count * blockBytes;
    if (this.#memory.total + bytes > limit || this.#memory.of(owner) + bytes > limit * organizationShare)
      return undefined;
    this.#memory.add(owner, bytes);
    this.#peak = Math.max(this.#peak, this.#memory.total);
    return Array.from({ length: count }, () => this.#free.pop() ?? Buffer.allocUnsafeSlow(blockBytes));
  }

  #giveBackBlocks(owner: string, blocks: readonly Buffer[], isFree: boolean): void {
    this.#memory.add(owner, -blocks.length * blockBytes);
    if (isFree) this.#free.push(...blocks);
    // The limit may be lower than it was.
    const kept = Math.max(0, Math.floor((this.#limit() - this.#memory.total) / blockBytes));
    this.#free.length = Math.min(this.#free.length, kept);
  }

  async #takeFile(owner: string, bytes: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve: begin, reject } = Promise.withResolvers<void>();
    const waiting = { owner, bytes, begin };
    const leave = () => {
      this.#waiting = this.#waiting.filter((each) => each !== waiting);
      reject(signal.reason);
      this.#serve();
    };
    this.#waiting.push(waiting);
    signal.addEventListener('abort', leave, { once: true });
    this.#serve();
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  #serve(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      const { owner, bytes, begin } = next;
      this.#waiting = this.#waiting.filter((each) => each !== next);
      this.#files.add(owner, bytes);
      this.#filesMade++;
      begin();
    }
  }

  /** A part larger than all the room gets it alone. One that does not fit yet is not overtaken by smaller ones. */
  #next(): Waiting | undefined {
    const limit = this.#limit() * filesPerMemory;
    const held = ({ owner }: Waiting) => this.#files.of(owner);
    const mayTake = (each: Waiting) => held(each) === 0 || held(each) + each.bytes <= limit * organizationShare;
    const [next] = this.#waiting.filter(mayTake).toSorted((one, other) => held(one) - held(other));
    return next && (this.#files.total === 0 || this.#files.total + next.bytes <= limit) ? next : undefined;
  }
}

class Holdings {
  readonly #bytes = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(owner: string): number {
    return this.#bytes.get(owner) ?? 0;
  }

  add(owner: string, bytes: number): void {
    this.#total += bytes;
    const left = this.of(owner) + bytes;
    if (left > 0) this.#bytes.set(owner, left);
    else this.#bytes.delete(owner);
  }
}
