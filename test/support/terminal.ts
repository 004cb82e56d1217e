import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cli } from './project.ts';

/**
 * Runs a program with a terminal of 100 columns as its stderr and a pipe as its stdout. What the terminal is sent goes
 * to stderr as it comes; stdout has the rest at the end.
 */
const script = `
import fcntl, json, os, pty, struct, subprocess, sys, termios, threading
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 100, 0, 0))
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=slave)
os.close(slave)
def watch():
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            return
        if not piece:
            return
        os.write(2, piece)
watcher = threading.Thread(target=watch)
watcher.start()
stdout = child.stdout.read()
status = child.wait()
watcher.join()
print(json.dumps({'exitCode': status, 'stdout': stdout.decode()}))
`;

/** Whether this machine can give a program a terminal. */
export function hasTerminals(): boolean {
  return spawnSync('python3', ['-c', 'import pty, termios']).status === 0;
}

export interface OnTerminal {
  readonly exitCode: number;
  readonly stdout: string;
  /** Every byte that the terminal was sent, the live line and what takes it away among it. */
  readonly terminal: string;
}

/**
 * Starts the program as a person does who sends stdout elsewhere; `seen` gets everything that the terminal shows so
 * far.
 */
export async function runOnTerminal(
  args: readonly string[],
  seen: (terminal: string) => void = () => undefined,
): Promise<OnTerminal> {
  const child = spawn('python3', ['-c', script, process.execPath, cli, ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', TZ: 'America/St_Johns' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  let terminal = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    terminal += chunk;
    seen(terminal);
  });
  await once(child, 'close');
  return { ...(JSON.parse(Buffer.concat(chunks).toString()) as Omit<OnTerminal, 'terminal'>), terminal };
}

/** A Python program that runs the rest of its arguments on a terminal of so many columns, and prints what that shows. */
const terminalScript = `
import fcntl, os, pty, signal, struct, subprocess, sys, termios
master, slave = pty.openpty()
signal.signal(signal.SIGTERM, lambda *_: child.terminate())
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 40, int(sys.argv[1]), 0, 0))
child = subprocess.Popen(sys.argv[2:], stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
os.close(slave)
while True:
    try:
        piece = os.read(master, 65536)
    except OSError:
        break
    if not piece:
        break
    os.write(1, piece)
sys.exit(child.wait())
`;

/** Runs the program with a terminal of so many columns and nothing else, and returns what that shows in the end. */
export async function lookOnTerminal(
  args: readonly string[],
  { columns = 80, env = {}, seen = () => undefined }: LookOptions = {},
): Promise<{ readonly exitCode: number; readonly screen: string; readonly bytes: string }> {
  const child = spawn('python3', ['-c', terminalScript, String(columns), process.execPath, cli, ...args], {
    env: { PATH: process.env['PATH'] ?? '', TZ: 'America/St_Johns', TERM: 'xterm-256color', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let bytes = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    bytes += chunk;
    seen(bytes, child.pid ?? 0);
  });
  const [exitCode] = await once(child, 'close');
  return { exitCode: Number(exitCode), screen: screenOf(bytes), bytes };
}

interface LookOptions {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Gets everything that was sent to the terminal so far. */
  readonly seen?: (bytes: string, pid: number) => void;
}

/** What a terminal's lines show in the end, after all that took something away. */
export function screenOf(terminal: string): string {
  return terminal
    .split(/\r?\n/)
    .map((line) => line.slice(Math.max(0, line.lastIndexOf('\x1b[2K') + 1)).replace(/^\[2K/, ''))
    .join('\n');
}
