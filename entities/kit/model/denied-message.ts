import type { EntityModule } from './define.ts';
import type { Operation } from './policy.ts';

/** The message for a caller who lacks a right, with what to do about it. `explainAccess` explains rights to existing records. */
export function deniedMessage({ typeName }: EntityModule, operation: Operation): string {
  const remedy = 'An owner or administrator of the organization can give the right';
  const reason = operation === 'create' ? '' : '; explainAccess tells them why it is missing';
  return `You may not ${operation} this ${typeName}. ${remedy}${reason}.`;
}
