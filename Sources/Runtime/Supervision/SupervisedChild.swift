import Linux
import Messages

/// A running child.
final class SupervisedChild {
    let kind: ProcessKind
    let pool: PoolName?
    let isForeign: Bool
    let process: ChildProcess
    let ready: ReadyPipe
    /// What its native libraries write; nil for somebody else's program, which writes to our log.
    let output: OutputPipe?
    /// How often a front, or somebody else's program, has said that its loop turns.
    var beats: UInt64 = 0

    /// Starts the program: no descriptor but its log, the pipe and its secret, in a process group
    /// of its own, so that a Ctrl-C at the terminal reaches the supervisor alone.
    init(
        _ specification: ChildSpecification, restarts: UInt32, secret: Int32? = nil
    ) throws(Errno) {
        let pipe = try FileDescriptor.pipe()
        isForeign = specification.isForeign
        let life = ChildSpecification.lifeArguments(
            restarts: restarts, parent: CurrentProcess.processID, hasSecret: secret != nil,
            listens: specification.listener != nil)
        var environment = ChildEnvironment.of(CurrentProcess.environment)
        environment.merge(specification.environment) { $1 }
        if isForeign { environment["IMAGEBUS_RESTARTS"] = "\(restarts)" }
        var command = ChildCommand(
            specification.program, specification.arguments + (isForeign ? [] : life),
            environment: environment)
        let written = try FileDescriptor.pipe()
        // A library that writes faster than it is read loses its text, and does not wait.
        try written.writeEnd.setNonBlocking()
        command.descriptors = [
            0: .null, 1: .descriptor(isForeign ? 2 : written.writeEnd.number),
            2: isForeign ? .inherited : .descriptor(written.writeEnd.number),
            ChildSpecification.readyDescriptor: .descriptor(pipe.writeEnd.number),
        ]
        if !isForeign { command.descriptors[ChildSpecification.logDescriptor] = .descriptor(2) }
        if let secret {
            command.descriptors[ChildSpecification.secretDescriptor] = .descriptor(secret)
        }
        if let listener = specification.listener {
            command.descriptors[ChildSpecification.listenerDescriptor] = .descriptor(listener)
        }
        command.leadsGroup = true
        kind = specification.kind
        pool = specification.pool
        process = try ChildProcess(command)
        ready = try ReadyPipe(pipe.readEnd)
        output = isForeign ? nil : try OutputPipe(written.readEnd)
    }

    /// The descriptors that become readable when something happens to it.
    var descriptorNumbers: [Int32] {
        let end = process.descriptor.descriptor.number
        return [end] + (ready.number.map { [$0] } ?? []) + (output?.number.map { [$0] } ?? [])
    }
}
