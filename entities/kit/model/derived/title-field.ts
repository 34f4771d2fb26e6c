import type { EntityModule } from '../define.ts';
import { readableFields } from '../exposure.ts';

/** The field by which people recognize a record of a kind: what lists search first, a name, or the display id; null without any. */
export function titleField(module: EntityModule): string | null {
  const readable = new Set(readableFields(module).map(([name]) => name));
  return [...(module.search ?? []), 'name', 'displayId'].find((name) => readable.has(name)) ?? null;
}
