import Linux
import Model
import ProcessRuntime
import Supervision
import TestKit
import Testing

@testable import CommandLineInterface
@testable import imagebus_cli

@Suite struct StackChoiceTests {
    private let folder = TestKit.TemporaryDirectory()

    private func options(_ arguments: [String], isNamed: Bool = true) throws -> StackOptions {
        let environment = ["HOME": "/home/a", "XDG_RUNTIME_DIR": folder.path]
        let named = isNamed ? ["--runtime-dir", folder.file("bus")] : []
        return try GetOptions.read(["http://a/b"] + named + arguments, environment).stack
    }

    @Test func whereNobodyServesAStackOfItsOwnIsStarted() throws {
        #expect(try StackChoice.choose(options([], isNamed: false)) == .none)
    }

    @Test func whereNobodyServesANamedDirectoryThatIsSaid() throws {
        let error = #expect(throws: ImageError.self) { try StackChoice.choose(options([])) }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("serve --runtime-dir \(folder.file("bus"))") == true)
        #expect(try StackChoice.choose(options(["--private"])) == .none)
    }

    @Test func whoeverHoldsTheLockIsWaitedFor() throws {
        let memory = try Linux.TemporaryDirectory(in: "/dev/shm")
        let directory = try RuntimeDirectory(
            root: folder.file("bus"), kinds: [.coordinator], sharedMemory: memory.path)
        let paths = directory.paths
        guard case .running(let route) = try StackChoice.choose(options([])) else {
            Issue.record("it runs")
            return
        }
        #expect(route.paths == paths && route.isSupervised && route.servers == nil)
        #expect(try StackChoice.choose(options(["--private"])) == .none)
        withExtendedLifetime(directory) {}
    }

    @Test func aWorkersSupervisorIsNoStack() throws {
        let memory = try Linux.TemporaryDirectory(in: "/dev/shm")
        let directory = try RuntimeDirectory(
            root: folder.file("bus"), kinds: [.decode], sharedMemory: memory.path)
        #expect(throws: ImageError.self) { try StackChoice.choose(options([])) }
        withExtendedLifetime(directory) {}
    }

    @Test func aNamedEndpointIsTakenWithoutLooking() throws {
        let named = try StackChoice.choose(
            options(["--endpoint", "ipc:///nowhere/front/front.sock"]))
        guard case .named(let route) = named else {
            Issue.record("it was named")
            return
        }
        #expect(route.paths == RuntimePaths(root: "/nowhere"))
        #expect(!route.isSupervised && route.servers == nil)
    }

    @Test func aTextThatIsNoEndpointIsAUsageError() throws {
        let error = #expect(throws: ImageError.self) {
            try StackChoice.choose(options(["--endpoint", "tcp://host:1"]))
        }
        #expect(error?.exitStatus == 64)
    }
}
