/**
 * The shell program that outlives the gateway just long enough to clean up after it.
 * Plain POSIX sh, builtins only, so it starts in a millisecond and needs a megabyte.
 */

/**
 * Reads `add PID` and `drop PID` lines; at end of file it kills the process group of every number still kept.
 *
 * The kernel closes the pipe whenever the gateway ends, `kill -9` included, so end of file is the one signal that
 * cannot be missed. Signals meant for a whole service are ignored: the reaper has to survive them to do its work.
 * The list is one string, `,12,34,`, that is only ever cut by quoted patterns, so its length does not matter. A line
 * cut off by the gateway's death fails `read` and is dropped. A number may be added twice, by itself and by the gateway.
 * `0`, `1` and leading zeros are refused because `kill -- -1` means every process of the user.
 */
export const REAPER_SCRIPT = `
trap '' HUP INT QUIT TERM
kept=,
while read -r verb pid; do
  case $pid in
    '' | *[!0-9]* | 0* | 1) continue ;;
  esac
  case $verb in
    add)
      case $kept in
        *",$pid,"*) ;;
        *) kept=$kept$pid, ;;
      esac
      ;;
    drop)
      case $kept in
        *",$pid,"*) kept=\${kept%%",$pid,"*},\${kept#*",$pid,"} ;;
      esac
      ;;
  esac
done
kept=\${kept#,}
while [ -n "$kept" ]; do
  pid=\${kept%%,*}
  kept=\${kept#*,}
  kill -s KILL -- "-$pid"
done
`;
