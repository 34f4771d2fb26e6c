export { file } from './file.ts';
