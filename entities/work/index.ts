export { note } from './note.ts';
export { tag } from './tag.ts';
export { task } from './task.ts';
