export { emailVerification } from './email-verification.ts';
export { user } from './user.ts';
