/// Where the callbacks of a load run (SDWebImage's `callbackQueue` and its policies).
///
/// Progress comes in order and before the completion, which comes once.
public struct CallbackExecutor: Sendable {
    enum Policy {
        case inline
        case dispatch
        case safe
    }

    let policy: Policy
    private let executor: (any TaskExecutor)?

    /// On the thread that learns of it, at once: the client's own, or that of the call where it
    /// ends the load. A callback must not block: all loads of the client would wait. (Invoke, 2)
    public static let inline = CallbackExecutor(policy: .inline, executor: nil)

    /// Later, in a task on this executor, or on the one that tasks have by default. (Dispatch, 1)
    public static func dispatch(_ executor: (any TaskExecutor)? = nil) -> CallbackExecutor {
        CallbackExecutor(policy: .dispatch, executor: executor)
    }

    /// At once where that is on this executor already, such as `ImagebusClient.executor`; else
    /// later, in a task on it. (SafeExecute, 0)
    public static func safe(_ executor: any TaskExecutor) -> CallbackExecutor {
        CallbackExecutor(policy: .safe, executor: executor)
    }

    /// Whether callbacks run where they are called from, wherever that is.
    var isInline: Bool { policy == .inline }

    /// Whether callbacks run where this is called: on the line of a client, unless that is nil.
    func isHere(onLineOf commands: CommandQueue?) -> Bool {
        switch policy {
        case .inline: return true
        case .dispatch: return false
        case .safe:
            guard let executor else { return false }
            if let commands, let line = executor as? LineExecutor {
                return line.commands === commands
            }
            return withUnsafeCurrentTask { task in
                task?.unownedTaskExecutor == executor.asUnownedTaskExecutor()
            }
        }
    }

    /// Runs work in a task.
    func start(_ work: @escaping @Sendable () async -> Void) {
        Task.detached(executorPreference: executor, operation: work)
    }
}
