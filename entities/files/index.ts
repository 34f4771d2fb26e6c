export { file } from './file.ts';
export { fileVerdict } from './file-verdict.ts';
