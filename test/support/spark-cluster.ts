import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { newProject } from './project.ts';

/** The Spark of the machine: SPARK_HOME, or a virtual environment with pyspark; undefined if there is none. */
export function sparkHome(): string | undefined {
  const venv = process.env['COSTBOOK_TEST_SPARK'];
  const libraries = venv === undefined ? [] : readdirSync(join(venv, 'lib')).map((name) => join(venv, 'lib', name));
  const homes = [process.env['SPARK_HOME'], ...libraries.map((one) => join(one, 'site-packages', 'pyspark'))];
  return homes.find((home) => home !== undefined && existsSync(join(home, 'bin', 'spark-sql')));
}

/** Programs that end within a minute are quickest without Java's second compiler, and with one thread that collects garbage. */
const shortLived = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';

/** The environment of Spark's programs: everything stays on this machine. */
export function sparkEnv(home: string): Record<string, string> {
  const java = process.env['JAVA_HOME'];
  return { SPARK_HOME: home, SPARK_LOCAL_IP: '127.0.0.1', ...(java === undefined ? {} : { JAVA_HOME: java }) };
}

/** The command of a cluster for costbook.yaml; small statements are quickest without compiled code. */
export function sparkCommand(home: string, master: string): string[] {
  const settings = {
    'spark.ui.enabled': 'false',
    'spark.driver.host': '127.0.0.1',
    'spark.sql.shuffle.partitions': '1',
    'spark.sql.codegen.wholeStage': 'false',
    'spark.driver.extraJavaOptions': shortLived,
    'spark.executor.extraJavaOptions': shortLived,
    'spark.sql.catalogImplementation': 'in-memory',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['--conf', `${name}=${value}`]);
  return [join(home, 'bin', 'spark-sql'), '--master', master, ...options, '-f', '{file}'];
}

/** A master and two workers on loopback. `end` stops them. */
export async function startSparkCluster(home: string): Promise<{ master: string; end(): void }> {
  const folder = await newProject();
  const children: ChildProcess[] = [];
  function start(args: readonly string[]): ChildProcess {
    const env = {
      PATH: process.env['PATH'] ?? '',
      SPARK_WORKER_DIR: folder,
      SPARK_DAEMON_JAVA_OPTS: shortLived,
      ...sparkEnv(home),
    };
    const program = join(home, 'bin', 'spark-class');
    // spark-class becomes the JVM.
    const child = spawn(program, args, { env, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
    children.push(child);
    return child;
  }
  const quiet = ['--webui-port', '0'];
  const address = ['--host', '127.0.0.1', '--port', '0'];
  const deploy = 'org.apache.spark.deploy';
  const master = await lineOf(start([`${deploy}.master.Master`, ...address, ...quiet]), /(spark:\/\/127\.0\.0\.1:\d+)/);
  for (const _ of [1, 2]) {
    const worker = start([`${deploy}.worker.Worker`, ...address, ...quiet, '-c', '1', '-m', '1g', master]);
    await lineOf(worker, /(Successfully registered with master)/);
  }
  return {
    master,
    end() {
      for (const { pid } of children) {
        try {
          if (pid !== undefined) process.kill(-pid, 'SIGKILL');
        } catch {
          // It has ended.
        }
      }
    },
  };
}

/** The first match in what a process prints; it is read to its end. */
async function lineOf(child: ChildProcess, pattern: RegExp): Promise<string> {
  if (child.stderr === null) throw new Error('nothing to read');
  const lines = createInterface({ input: child.stderr });
  const found = new Promise<string>((resolve) => {
    lines.on('line', (line) => {
      const [, match] = pattern.exec(line) ?? [];
      if (match !== undefined) resolve(match);
    });
  });
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${child.spawnargs.join(' ')} ended before it printed ${pattern}`);
  });
  ended.catch(() => undefined);
  return Promise.race([found, ended]);
}
