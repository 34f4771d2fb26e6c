import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/**
 * Rights on records of a kind: situation of the caller towards the record → caller → operations, separated by spaces. Operations
 * that are not named are refused: an operation on a record that the caller may not view answers as if there were none.
 *
 * Callers: `owner` … `auditor` have that role in the organization; `reader`, `writer` and `remover` are API tokens with that scope
 * for the kind; `outsider` has an account in another organization; `leaver` was a member; `anonymous` is not signed in.
 *
 * Situations: `any` is no relation to the record; `themselves`: it is the caller's own. A relation that the kind grants, for example `owner` or `assignee`. `viewer`,
 * `editor`, `blocked`: the record is shared with a group of the caller, or blocked for it. `creators`: a group of the caller may
 * create records of the kind. `above X`: the caller is X towards the record that passes its rights on; `far above X`: three levels
 * higher. Words combine: `blocked above assignee`.
 *
 * Creation: the caller has a right to each record that the new one has to refer to, as far as a grant or a share gives it. Not to the
 * one that the right to create comes from: that is what `above` is for.
 */
export type Rights = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** `<kind>.rights.yaml`, beside the file of the kind. */
interface RightsFile {
  /** A preset of entities/presets, whose expected rights hold except for what follows. */
  readonly preset?: string;
  /** By situation; each caller overrides the preset, and null removes a situation that the kind does not have. */
  readonly rights?: Readonly<Record<string, Readonly<Record<string, string>> | null>>;
  /** The same for the records that share records of this kind. */
  readonly share?: RightsFile['rights'];
  /** The same for the files of records of this kind, on top of the preset for parts of records. */
  readonly files?: RightsFile['rights'];
  /** The same for proposals about records of this kind. */
  readonly proposals?: RightsFile['rights'];
}

const entities = fileURLToPath(new URL('../../../entities', import.meta.url));

/** Expected rights of every kind, by kind. */
export function expectedRights(): ReadonlyMap<string, Rights> {
  const files = globSync('*/*.rights.yaml', { cwd: entities }).filter((file) => dirname(file) !== 'presets');
  return new Map(
    files.toSorted().flatMap((path) => {
      const kind = basename(path, '.rights.yaml').replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
      const file = read(path);
      const preset = file.preset === undefined ? {} : read(`presets/${file.preset}.rights.yaml`);
      const share = merged(preset.share, file.share);
      return [
        [kind, merged(preset.rights, file.rights)] as const,
        ...(file.files
          ? [[`${kind}File`, merged(read('presets/part-of-record.rights.yaml').rights, file.files)] as const]
          : []),
        ...(file.proposals ? [[`${kind}Proposal`, merged({}, file.proposals)] as const] : []),
        ...(Object.keys(share).length > 0 ? [[`${kind}Share`, share] as const] : []),
      ];
    }),
  );
}

function read(path: string): RightsFile {
  return parse(readFileSync(join(entities, path), 'utf8')) as RightsFile;
}

function merged(preset: RightsFile['rights'] = {}, own: RightsFile['rights'] = {}): Rights {
  const situations = new Set([...Object.keys(preset), ...Object.keys(own)]);
  return Object.fromEntries(
    [...situations].flatMap((situation) =>
      own[situation] === null ? [] : [[situation, { ...preset[situation], ...own[situation] }]],
    ),
  );
}
