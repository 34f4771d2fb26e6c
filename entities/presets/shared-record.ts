import {
  allow,
  anyone,
  creators,
  deny,
  related,
  role,
  scope,
  system,
  through,
  type Policy,
} from '../kit/model/policy.ts';
import { owners } from './roles.ts';

interface Options {
  /** Relations of people who may edit a record; the kind grants them. */
  readonly editors?: readonly string[];
  /** Those of them who may also delete it. */
  readonly removers?: readonly string[];
  /** A reference whose record passes its rights on: who may view or edit that one may view or edit this one. */
  readonly parent?: string;
}

/**
 * Visible to the people it names and to the groups it is shared with (`share: true`); hidden from groups it is blocked for, except from
 * people who may remove it. Everybody
 * but auditors creates records, and so do groups with the right to create them.
 */
export function sharedRecord({ editors = ['owner'], removers = editors, parent }: Options = {}): Policy {
  const inherited = parent === undefined ? [] : [allow(through(parent))];
  // Its removers come before the block: nobody locks out the people whose record it is.
  const first = [allow(system), allow(owners), allow(scope), allow(related(...removers))];
  const others = editors.filter((name) => !removers.includes(name));
  const blocked = deny(related('blocked'));
  return {
    view: [...first, blocked, allow(related('viewer', 'editor', ...others)), ...inherited, deny(anyone)],
    create: [allow(system), allow(role('owner', 'super_admin', 'admin', 'member')), allow(scope), allow(creators)],
    edit: [...first, blocked, allow(related('editor', ...others)), ...inherited],
    remove: inherited.length > 0 ? [...first, blocked, ...inherited] : first,
  };
}
