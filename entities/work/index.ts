export { customEnumValue } from './custom-enum-value.ts';
export { discussion } from './discussion.ts';
export { entityType } from './entity-type.ts';
export { note } from './note.ts';
export { savedView } from './saved-view.ts';
export { tag } from './tag.ts';
export { task } from './task.ts';
