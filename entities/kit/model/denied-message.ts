import type { EntityModule } from './define.ts';
import type { Operation } from './policy.ts';

/** The message for a caller without the required right. It points to `explainAccess` where the record exists. */
export function deniedMessage({ typeName }: EntityModule, operation: Operation): string {
  const remedy = 'An owner or administrator of the organization can give the right';
  const reason = operation === 'create' ? '' : '; explainAccess tells them why it is missing';
  const what = operation === 'create' ? `create a record of type ${typeName} here` : `${operation} this ${typeName}`;
  return `You may not ${what}. ${remedy}${reason}.`;
}
