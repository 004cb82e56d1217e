import { execFileSync } from 'node:child_process';

/** Compiles the product once before the tests: those that start processes start what a user would start. */
export default function build(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
}
