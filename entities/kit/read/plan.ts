import { hash, randomUUID } from 'node:crypto';
import type { Caller } from '../model/caller.ts';
import { RecentlyUsed } from '../base/recently-used.ts';
import { Placeholder } from './query-shape.ts';
import type { Statement } from '../storage/sql.ts';

/** A compiled statement that serves every caller of a sort: its text, and where each of its values comes from. */
interface Plan {
  readonly name: string;
  readonly text: string;
  readonly sources: readonly Source[];
}

type Source =
  | { readonly from: 'plan'; readonly value: unknown }
  | { readonly from: 'question'; readonly place: number }
  | { readonly from: 'caller'; readonly property: keyof typeof standIns };

/** What of a caller is bound; everything else about it decides the text, and so belongs to the key. */
const standIns = {
  subjectId: randomUUID(),
  organizationId: randomUUID(),
  groupIds: [randomUUID()],
  tokenId: randomUUID(),
  reason: randomUUID(),
} as const;

const marks = Object.values(standIns).flat();

/** Most plans that are kept. */
const maxPlans = 1_000;

/** Longest text of a plan that is kept, in characters: a thousand longer ones would fill the memory. */
const maxKept = 50_000;

const plans = new RecentlyUsed<Plan>(maxPlans);

/**
 * The statement for a question, compiled once for all callers of a sort.
 * @param key what of the question changes the text
 * @param values what it is bound with, by the places of its slots
 * @param compile compiles it for any caller, with slots for the values
 */
export function planned(
  key: string,
  values: readonly unknown[],
  caller: Caller,
  compile: (caller: Caller) => Statement,
): Statement {
  const whole = `${sortOf(caller)} ${key}`;
  let plan = plans.get(whole);
  if (!plan) {
    const { text, values: compiled } = compile(standInFor(caller));
    const sources = compiled.map(sourceOf);
    // The statement holds something that was made of who calls: only the caller itself can be compiled for.
    if (!isComplete(sources)) return filledIn(compile(caller), values);
    plan = { text, name: nameOf(text), sources };
    if (text.length <= maxKept) plans.set(whole, plan);
  }
  const bound = plan.sources.map((source) => {
    if (source.from === 'plan') return source.value;
    return source.from === 'question' ? values[source.place] : caller[source.property];
  });
  return { text: plan.text, values: bound, name: plan.name };
}

/** Texts are many, and their lengths too; PostgreSQL cuts names after 63 bytes. */
export function nameOf(text: string): string {
  return hash('sha256', text, 'base64url');
}

/** All of a caller that decides texts: for what is bound, only whether it is there. */
function sortOf(caller: Caller): string {
  return JSON.stringify(caller, (name, value: unknown) => {
    if (!(name in standIns)) return value;
    return Array.isArray(value) ? value.length > 0 : value !== null;
  });
}

function standInFor(caller: Caller): Caller {
  return {
    ...caller,
    subjectId: caller.subjectId && standIns.subjectId,
    organizationId: caller.organizationId && standIns.organizationId,
    groupIds: caller.groupIds.length > 0 ? standIns.groupIds : [],
    tokenId: caller.tokenId && standIns.tokenId,
    reason: standIns.reason,
  };
}

function sourceOf(value: unknown): Source | undefined {
  if (value instanceof Placeholder) return { from: 'question', place: value.place };
  for (const [property, standIn] of Object.entries(standIns))
    if (value === standIn) return { from: 'caller', property: property as keyof typeof standIns };
  const text = JSON.stringify(value) ?? '';
  return marks.some((mark) => text.includes(mark)) ? undefined : { from: 'plan', value };
}

function isComplete(sources: readonly (Source | undefined)[]): sources is readonly Source[] {
  return !sources.includes(undefined);
}

function filledIn({ text, values }: Statement, given: readonly unknown[]): Statement {
  return { text, values: values.map((value) => (value instanceof Placeholder ? given[value.place] : value)) };
}
