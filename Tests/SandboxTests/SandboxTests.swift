import Linux
import Model
import ProcessRuntime
import Sandbox
import Testing

/// Features of the running kernel.
enum KernelOfTests {
    static var hasLandlock: Bool {
        do {
            _ = try LandlockRuleset()
            return true
        } catch {
            return false
        }
    }
}

/// Operations that the sandbox of a kind denies and permits, tried by a process that enters it.
@Suite(.enabled(if: KernelOfTests.hasLandlock, "this kernel has no Landlock"))
struct SandboxTests {
    static let kinds: [WorkerKind] = [.decode, .transform]

    @Test(arguments: kinds)
    func everyAttemptIsDeniedAndTheWorkIsNot(_ kind: WorkerKind) throws {
        let run = try ProbeRun(kind)
        #expect(run.status == .exited(0))
        #expect(run.errorText == "")
        #expect(run.lines.first == "layers noNewPrivileges,rlimits,seccomp,landlock")
        #expect(run.lines(saying: "denied").count == 61)
        #expect(run.lines(saying: "allowed").count == (kind == .decode ? 10 : 8))
        #expect(run.lines.count == 62 + (kind == .decode ? 10 : 8), "\(run.lines)")
    }

    @Test(arguments: [
        "socket-inet denied EPERM", "socket-inet6 denied EPERM", "socket-netlink denied EPERM",
        "socket-packet denied EPERM", "execve denied EPERM", "execveat denied EPERM",
        "fork denied EPERM", "ptrace denied EPERM", "process-vm-readv denied EPERM",
        "open-etc-passwd denied EACCES", "list-root denied EACCES",
        "write-foreign-arena denied EACCES", "write-input-arena denied EACCES",
        "read-admin-secret denied EACCES",
        "write-tmp denied EACCES", "kill-other denied EPERM", "mount denied EPERM",
        "unshare-user denied EPERM", "bpf denied EPERM", "io-uring-setup denied EPERM",
        "thread allowed", "socket-unix allowed", "file-in-arena/decode allowed",
        "read-arena/download allowed",
    ])
    func theLineIsThere(_ line: String) throws {
        #expect(try Self.decode.get().lines.contains(line))
    }

    private static let decode = Result { try ProbeRun(.decode) }

    @Test func aLayerThatIsMissingIsNamedAndTheOthersHold() throws {
        let run = try ProbeRun(.decode, ["--thread-first"])
        #expect(run.status == .exited(1))
        #expect(run.lines.first == "layers noNewPrivileges,rlimits,seccomp")
        #expect(run.errorText.contains("layer=landlock"))
        #expect(run.errorText.contains("EBUSY"))
        #expect(run.lines.contains("open-etc-passwd ALLOWED "))
        #expect(run.lines.contains("socket-inet denied EPERM"))
    }

    @Test func aDirectoryThatIsNotThereYetIsReadableThroughTheOneThatWillHoldIt() throws {
        let run = try ProbeRun(.decode, without: ["arena/coordinator"])
        #expect(run.lines.first == "layers noNewPrivileges,rlimits,seccomp,landlock")
        #expect(run.errorText.contains("arena/coordinator"))
        #expect(run.lines(saying: "ALLOWED") == ["read-foreign-arena ALLOWED "])
        #expect(run.lines(saying: "DENIED") == [])
    }

    @Test func theProfileIsTheTableOfTheDesign() throws {
        let paths = RuntimePaths(root: "/r")
        let decode = SandboxProfile.decode(paths: paths, arenaBytesMax: 5 << 20)
        #expect(decode.inputs == ["/r/arena/coordinator", "/r/arena/download", "/r/arena/cache"])
        #expect(decode.own == ["/r/arena/decode", paths.controlDirectory(PoolName(.decode))])
        let names = try ["vector", "ftp"].map { try #require(PoolName($0)) }
        let vector = SandboxProfile.decode(
            pool: names[0], inputs: [names[1]], paths: paths, arenaBytesMax: 0)
        #expect(vector.own == ["/r/arena/vector", "/r/back/vector/control"])
        #expect(
            vector.inputs == [
                "/r/arena/coordinator", "/r/arena/download", "/r/arena/cache", "/r/arena/ftp",
            ])
        #expect(decode.fileBytesMax == 5 << 20)
        let transform = SandboxProfile.transform(paths: paths, arenaBytesMax: 0)
        #expect(transform.inputs == ["/r/arena/decode"])
        #expect(transform.fileBytesMax == 1 << 20)
    }
}
