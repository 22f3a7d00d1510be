import Derivation
import Dispatching
import Messages

// What workers are told.
extension Scheduler {
    /// What workers are to be told comes where it belongs among all that is to be done.
    mutating func takeDispatches() {
        deriver.takeActions { actions.append(SchedulerAction($0)) }
    }
}

extension SchedulerAction {
    fileprivate init(_ action: DispatchAction) {
        switch action {
        case .assign(let worker, let job): self = .assign(worker, job)
        case .cancelJob(let worker, let job): self = .cancelJob(worker, job)
        case .adjust(let worker, let adjustment): self = .adjust(worker, adjustment)
        case .release(let worker, let blocks, let isPrompt):
            self = .release(worker, blocks, isPrompt: isPrompt)
        case .expel(let worker, let error): self = .expel(worker, error)
        }
    }
}
