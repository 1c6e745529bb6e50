# fish completion for stray.
#
# Commands, options and what a command takes are read from its --help, so that
# they are those of the version that is there.  Where that fails there is
# nothing to offer, quietly.

function __stray_ask
    command stray $argv </dev/null 2>/dev/null
end

function __stray_commands
    __stray_ask --help | string replace -rf '^  ([a-z]+) +(.*)$' '$1\t$2'
end

function __stray_runs
    __stray_ask runs --json | string match -ra '"run_id":"[^"]*"' | string replace -rf '.*:"(.*)"' '$1\trun'
end

function __stray_numbers
    ps -e -o $argv[1]= 2>/dev/null | string trim | string match -vr '^[01]$' | sort -un
end

# The words that can stand for a TARGET that begins like $argv[1].
function __stray_targets
    switch $argv[1]
        case 'pgid:*'
            __stray_numbers pgid | string replace -r '^' pgid:
        case 'sid:*'
            __stray_numbers sid | string replace -r '^' sid:
        case 'run:*'
            __stray_runs | string replace -r '^' run:
        case '*:*'
        case '0*' '1*' '2*' '3*' '4*' '5*' '6*' '7*' '8*' '9*'
            __fish_complete_pids
        case '*'
            printf '%s\n' pgid:\t'a process group' sid:\t'a session' run:\t'a recorded run' \
                audit:\t'an audit session' env:\t'what carries NAME or NAME=VALUE' \
                cgroup:\t'a control group'
            __stray_runs
    end
end

# The values of option --$argv[1], of which $argv[2] is typed.
function __stray_values
    switch $argv[1]
        case capture
            printf '%s\n' auto netlink none
        case color
            printf '%s\n' auto always never
        case detach
            printf '%s\n' allow deny
        case die-with-parent
            __fish_complete_pids
        case format
            printf '%s\n' md json html ecs
        case json
            __fish_complete_path $argv[2]
        case keep
            if string match -q 'exe=*' -- $argv[2]
                __fish_complete_path (string replace -r '^exe=' '' -- $argv[2]) | string replace -r '^' exe=
            else
                printf '%s\n' exe= args=
            end
        case leftover
            printf '%s\n' report end keep
        case only
            printf '%s\n' group session run process members
        case pid
            __fish_complete_pids
        case signal
            kill -l | string split -n ' '
        case source
            if string match -q 'replay:*' -- $argv[2]
                __fish_complete_path (string replace -r '^replay:' '' -- $argv[2]) | string replace -r '^' replay:
            else
                printf '%s\n' auto netlink proc replay:
            end
        case state-dir
            __fish_complete_directories $argv[2]
        case output
            __fish_complete_path $argv[2]
        case user
            __fish_complete_users
    end
end

# What a command takes, by its usage: "usage: stray diff [OPTIONS] BEFORE [AFTER]".
function __stray_operands
    switch $argv[1]
        case '*TARGET*'
            __stray_targets $argv[2]
        case '*RUN*'
            __stray_runs
    end
    switch $argv[1]
        case '*[-o FILE]'
        case '*FILE*' '*BEFORE*'
            __fish_complete_path $argv[2]
    end
end

# Of the words of a command line that ends with another those of that, where it has begun or the
# next word is to begin it; nothing else.  $forms: the options whose value is a word of its own.
function __stray_inner
    set -l words $argv[3..]
    while set -q words[1]
        switch $words[1]
            case --
                set -q words[2]; and printf '%s\n' $words[2..]
                return 0
            case '-*'
                contains -- $words[1] $forms; and set -e words[1]
                set -q words[1]; or return 1
            case '*'
                printf '%s\n' $words
                return 0
        end
        set -e words[1]
    end
    not string match -q -- '-*' $cur
end

function __stray_complete
    set -l words (commandline -opc)
    set -l cur (commandline -ct)
    set -l name watch
    if set -q words[2]; and __stray_commands | string match -qr "^$(string escape --style=regex -- $words[2])\t"
        set name $words[2]
    end
    set -l help (__stray_ask $name --help)
    set -l options (string match -r '^  (?:-., |    )--.*' -- $help)

    # "-k, --grace=DUR": those that take a value, which may be the next word.
    set -l valued (string match -r '^ +(?:-., )?--[a-z-]+=' -- $options | string trim)
    if string match -q '*CMD*' -- $help[1]
        set -lx forms (string split ', ' -- (string trim -r -c = -- $valued))
        set -lx cur $cur
        if set -l inner (__stray_inner $words)
            complete -C (string join ' ' -- (string escape -- $inner) $cur)
            return
        end
    end
    for option in $valued
        set -l forms (string split ', ' -- (string trim -r -c = -- $option))
        if contains -- $words[-1] $forms
            __stray_values (string replace -- -- '' $forms[-1]) $cur
            return
        end
    end
    if string match -q -- '--*=*' $cur
        set -l parts (string split -m 1 = -- $cur)
        __stray_values (string replace -- -- '' $parts[1]) $parts[2] | string replace -r '^' -- "$parts[1]="
    else if string match -q -- '-*' $cur
        string replace -rf '^ +(?:-., )?(--[a-z-]+=?)\S* +(.*)' '$1\t$2' -- $options
        string replace -rf '^ +(-.), --\S+ +(.*)' '$1\t$2' -- $options
    else
        set -q words[2]; or __stray_commands
        __stray_operands "$help[1]" $cur
    end
end

complete -c stray -f -a '(__stray_complete)'
