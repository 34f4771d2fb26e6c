import { currentField, isSessionKind } from '#entities/kit/model/current-record.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { openProposalField } from '#entities/kit/model/derived/open-proposal.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { proposalsOf } from '#entities/kit/read/relations.ts';
import type { RecordPart } from '#entities/kit/read/selection.ts';

/** The part of a record for a field that is stored nowhere; undefined for other fields. */
export function unstoredPart(
  registry: Registry,
  module: EntityModule,
  { name, as }: { readonly name: string; readonly as: string },
): RecordPart | undefined {
  if (name === currentField.name && isSessionKind(module)) return { is: 'current', as };
  const relation = name === openProposalField.name ? proposalsOf(registry, module) : undefined;
  return relation && { is: 'openProposal', as, relation };
}
