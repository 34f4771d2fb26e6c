import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sourceModules } from '#entities/kit/base/source-modules.ts';
import { Action } from './define-action.ts';

const areas = readdirSync(join(import.meta.dirname, '..')).filter((folder) => folder !== 'kit');
const modules = await Promise.all(areas.toSorted().map((area) => sourceModules(`api/actions/${area}`, '.ts')));

/** All actions, in the order of their files: a file in the folder of an area is found by its name. */
export const actions: readonly Action[] = modules
  .flat()
  .flatMap(({ exports }) => Object.values(exports).filter((one) => one instanceof Action));
