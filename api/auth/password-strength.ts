import { Worker } from 'node:worker_threads';
import { AppError } from '#entities/kit/base/errors.ts';
import { SerialQueue } from '#entities/kit/base/concurrency/serial-queue.ts';
import type { Estimate, EstimateRequest } from './strength-thread.ts';

/**
 * Number of characters that are judged. The work of the estimator grows with the square of the length and faster: 256 characters
 * took seconds.
 */
export const maxJudgedLength = 24;

/** Judgements that may wait for the thread; further ones are refused. */
const maxWaiting = 128;

/** Words that an attacker would try first are cut to this length. */
const maxWordLength = 64;

/** Time after which an unused thread ends, in milliseconds; its dictionaries take tens of megabytes. */
const idleMs = 30_000;

/** Score from which a password is hard to guess, of 0 to 4. */
const minScore = 3;

/** Words of fewer letters are in too many passwords by chance. */
const minPersonalLength = 3;

/** Letters and digits that a password has besides personal words. */
const minOwnLength = 8;

const howToChoose = 'Use several unrelated words, for example.';
const noPersonal = 'Do not use your name, your e-mail address, or the name of your organization or its domain.';

/**
 * Accepts passwords that are hard to guess (zxcvbn score 3 of 4), judged by their first characters, in a thread of its own.
 * @param personal texts that an attacker would try first: the address and names of the user, and the names of their organizations
 * @throws AppError weak_password; overloaded when too many passwords wait to be judged
 */
export async function checkStrength(password: string, personal: readonly string[]): Promise<void> {
  const words = wordsOf(personal);
  if (lengthWithout(password, words) < Math.min(minOwnLength, lengthWithout(password, [])))
    throw weakPassword(noPersonal);
  const { score, warning } = await strengthThread.estimate({
    password: password.slice(0, maxJudgedLength),
    personal: words,
  });
  if (score < minScore)
    throw weakPassword(warning === null ? howToChoose : `${warning.replace(/\.?$/, '.')} ${howToChoose}`);
}

/** The texts, their parts, and their parts together, in lower case, the longest first. */
function wordsOf(personal: readonly string[]): string[] {
  const words = personal.flatMap((text) => {
    const parts = partsOf(text);
    return [text.toLowerCase(), parts.join(''), ...parts];
  });
  return [...new Set(words)]
    .filter((word) => word.length >= minPersonalLength)
    .map((word) => word.slice(0, maxWordLength))
    .toSorted((one, other) => other.length - one.length);
}

function partsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** How many letters and digits of a password are in none of the words. */
function lengthWithout(password: string, words: readonly string[]): number {
  const left = words.reduce((text, word) => text.replaceAll(word, ' '), password.toLowerCase());
  return partsOf(partsOf(left).join('')).join('').length;
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
        `${this.#waiting} other passwords wait to be checked; try again in a few seconds.`,
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
      this.#pending?.reject(new Error(`the thread that checks passwords ended with code ${code}`));
    });
    return worker;
  }
}

const strengthThread = new StrengthThread();
