export { export } from './export.ts';
export { import } from './import.ts';
