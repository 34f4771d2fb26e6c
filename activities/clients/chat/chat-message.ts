import { retryAfterMs } from '#entities/kit/base/retry-after.ts';
import type { ChatTarget } from './chat-target.ts';

interface ChatRequest {
  readonly url: string;
  readonly method: 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface ChatAnswer {
  readonly status: number;
  readonly body: string;
  /** The header Retry-After. */
  readonly retryAfter: string | undefined;
}

/**
 * Result of a message at the platform: `sent`; `limited`: it takes none for some time; `failed`: it says that it has failed;
 * `refused`: an operator has to change something, such as the token or the channel; `unknown`: the answer does not say. Those in between
 * have not posted it.
 */
export interface ChatOutcome {
  readonly state: 'sent' | 'limited' | 'failed' | 'refused' | 'unknown';
  /** The platform's word for it; null for `sent` and `unknown`. */
  readonly code: string | null;
  readonly retryAfterMs: number;
}

/** Pause that a platform gets that does not say how long it takes no messages. */
const defaultPauseMs = 30_000;
const maxPauseMs = 3_600_000;

/** Answers of servers in between, which know nothing of what the platform has done. */
const unknownStatuses: ReadonlySet<number> = new Set([502, 504]);

/** Result of `errorOf` for an answer that is none of the platform. */
const noAnswer = 'no_json';

export function chatRequest(target: ChatTarget, text: string): ChatRequest {
  const isBot = target.as === 'bot';
  return {
    url: target.url,
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      ...(isBot ? { authorization: `Bearer ${target.token}` } : {}),
    },
    body: JSON.stringify({ ...(isBot ? { channel: target.channel } : {}), text, unfurl_links: false }),
  };
}

/** The bot is answered in JSON, with 200 also for what is refused; a webhook in plain text. */
export function chatOutcome(target: ChatTarget, { status, body, retryAfter }: ChatAnswer, now: Date): ChatOutcome {
  const code = target.as === 'bot' ? errorOf(body) : wordOf(body);
  if (status === 429 || code === 'ratelimited' || code === 'rate_limited') {
    const pauseMs = Math.min(retryAfterMs(retryAfter, now) ?? defaultPauseMs, maxPauseMs);
    return { state: 'limited', code: 'rate_limited', retryAfterMs: pauseMs };
  }
  const isUnknown = unknownStatuses.has(status) || (status === 200 && target.as === 'bot' && code === noAnswer);
  if (isUnknown) return { state: 'unknown', code: null, retryAfterMs: 0 };
  if (status >= 500) return { state: 'failed', code: `status_${status}`, retryAfterMs: 0 };
  const isSent = status === 200 && (target.as === 'webhook' || code === undefined);
  if (isSent) return { state: 'sent', code: null, retryAfterMs: 0 };
  return { state: 'refused', code: code ?? `status_${status}`, retryAfterMs: 0 };
}

/** Undefined for an answer that says that the message was posted. */
function errorOf(body: string): string | undefined {
  try {
    const { ok, error } = JSON.parse(body) as { readonly ok?: unknown; readonly error?: unknown };
    if (ok === true) return undefined;
    if (ok !== false) return noAnswer;
    return wordOf(typeof error === 'string' ? error : '');
  } catch {
    return noAnswer;
  }
}

/** Only what is a word of the platform: an answer may repeat what it was sent. */
function wordOf(text: string): string {
  return /^[a-z_]{1,60}$/.test(text.trim()) ? text.trim() : 'unknown_answer';
}
