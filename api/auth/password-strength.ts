import { Worker } from 'node:worker_threads';
import { AppError } from '#entities/kit/base/errors.ts';
import { SerialQueue } from '#entities/kit/base/serial-queue.ts';
import type { Estimate, EstimateRequest } from './strength-thread.ts';

/**
 * Number of characters that are judged. The work of the estimator grows with the square of the length and faster: 256 characters
 * took seconds.
 */
export const maxJudgedLength = 24;

/** Judgements that may wait for the thread; further ones are refused. */
const maxWaiting = 32;

/** Words that an attacker would try first are cut to this length. */
const maxWordLength = 64;

/** Time after which an unused thread ends, in milliseconds; its dictionaries take tens of megabytes. */
const idleMs = 30_000;

const length = 12;
const howToChoose = `Use at least ${length} characters, for example several unrelated words.`;
const distinctCharacters = 4;

/**
 * Accepts passwords of at least 12 characters, and others that are hard to guess (zxcvbn score 3 of 4). Only others are judged, by
 * their first characters, in a thread of its own.
 * @param personal words that an attacker would try first: the address and names of the user
 * @throws AppError weak_password; overloaded when too many passwords wait to be judged
 */
export async function checkStrength(password: string, personal: readonly string[]): Promise<void> {
  const isPersonal = personal.some((word) => word.toLowerCase() === password.toLowerCase());
  if (isPersonal) throw weakPassword('Do not use your name or your e-mail address.');
  if (password.length >= length && new Set(password).size >= distinctCharacters) return;
  const { score, warning } = await strengthThread.estimate({
    password: password.slice(0, maxJudgedLength),
    personal: personal.map((word) => word.slice(0, maxWordLength)),
  });
  if (score < 3) throw weakPassword(warning === null ? howToChoose : `${warning.replace(/\.?$/, '.')} ${howToChoose}`);
}

function weakPassword(advice: string): AppError {
  return new AppError('weak_password', `This password is too easy to guess. ${advice}`, {
    details: { fields: [{ path: '/password', message: advice }] },
  });
}

/** The thread that judges passwords, one after the other. It starts with the first one and ends when it is not used. */
class StrengthThread {
  readonly #queue = new SerialQueue();
  #waiting = 0;
  #worker: Worker | undefined;
  #pending: PromiseWithResolvers<Estimate> | undefined;
  #idle: NodeJS.Timeout | undefined;

  async estimate(request: EstimateRequest): Promise<Estimate> {
    if (this.#waiting >= maxWaiting)
      throw new AppError(
        'overloaded',
        `${this.#waiting} other passwords wait to be judged; try again in a few seconds, or use a longer password of more different characters.`,
        { details: { retryAfterSeconds: 5 } },
      );
    this.#waiting++;
    try {
      return await this.#queue.run(() => this.#ask(request));
    } finally {
      this.#waiting--;
    }
  }

  async #ask(request: EstimateRequest): Promise<Estimate> {
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    this.#worker.ref();
    this.#pending = Promise.withResolvers();
    this.#worker.postMessage(request);
    try {
      return await this.#pending.promise;
    } finally {
      this.#pending = undefined;
      // Neither the thread nor the timer keeps the process from ending.
      this.#worker?.unref();
      this.#idle = setTimeout(() => void this.#worker?.terminate(), idleMs).unref();
    }
  }

  #start(): Worker {
    const worker = new Worker(new URL('strength-thread.ts', import.meta.url));
    worker.on('message', (estimate: Estimate) => this.#pending?.resolve(estimate));
    worker.on('error', (error) => this.#pending?.reject(error));
    worker.on('exit', (code) => {
      this.#worker = undefined;
      this.#pending?.reject(new Error(`the thread that judges passwords ended with code ${code}`));
    });
    return worker;
  }
}

const strengthThread = new StrengthThread();
