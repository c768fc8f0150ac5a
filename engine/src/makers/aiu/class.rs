//! Classes of slices, as acelyzer names them.

use super::Phase;

/// Category of kernels in PyTorch's dialect.
const KERNEL: &str = "kernel";

/// Part that a slice plays in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AiuClass {
    /// Preparation of a kernel.
    ComputePrep,
    /// Execution of a kernel.
    ComputeExec,
    /// Transfer to the device.
    DataIn,
    /// Transfer from the device.
    DataOut,
    /// Conversion of data on the host.
    DataConvert,
    /// Wiring of several devices.
    Wireup,
    /// Barrier of several devices.
    Barrier,
    /// A round trip of the runtime.
    RoundtripFlex,
    /// A round trip to the device.
    RoundtripAiu,
    /// Serial step of a collective operation.
    ProtocolSerial,
    /// Sending of a collective operation, between devices.
    SendRdma,
    /// Receiving of a collective operation, between devices.
    ReceiveRdma,
    /// Transfer of a collective operation from the device, within a job.
    Send,
    /// Transfer of a collective operation to the device, within a job.
    Receive,
    /// Step of a collective operation through the host, with its name's ending.
    Hosted(HostStep),
    /// Anything else.
    Other,
}

/// Step of a collective operation through the memory of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HostStep {
    /// Waits for data.
    WaitData,
    /// Waits for an acknowledgement.
    WaitAck,
    /// Acknowledges.
    SignalAck,
    /// Announces data.
    SignalData,
    /// Watches for a notice.
    MonitorNotice,
    /// Sends data.
    SendData,
    /// Receives data.
    ReceiveData,
}

impl AiuClass {
    /// The class of a slice with counters.
    #[must_use]
    pub fn of_device(name: &str, has_group: bool) -> Self {
        if has_group && let Some(class) = Self::of_collective(name) {
            return class;
        }
        match Phase::of(name) {
            Phase::Exec => Self::ComputeExec,
            Phase::Prep => Self::ComputePrep,
            Phase::DataIn => Self::DataIn,
            Phase::DataOut => Self::DataOut,
            Phase::Whole => Self::of_host(name),
        }
    }

    /// The class of a slice of the host.
    #[must_use]
    pub fn of_host(name: &str) -> Self {
        let has = |part: &str| name.contains(part);
        if has("Compute of ") && !has("SenFusedDeviceNode") {
            Self::DataConvert
        } else if has("Flex RoundTrip") {
            Self::RoundtripFlex
        } else if has("AIU Roundtrip") {
            Self::RoundtripAiu
        } else if has("PrepareAndSyncRdma") {
            Self::Wireup
        } else if has("arrier:") {
            Self::Barrier
        } else {
            Self::Other
        }
    }

    /// The class of a slice of PyTorch's dialect.
    #[must_use]
    pub fn of_torch(category: &str, name: &str) -> Self {
        let has = |part: &str| name.contains(part);
        if has("HCOLL")
            && let Some(class) = Self::of_collective(name)
        {
            return class;
        }
        match Phase::of(name) {
            Phase::Prep => Self::ComputePrep,
            _ if category == KERNEL => Self::ComputeExec,
            _ if has("Memcpy (HtoD)") => Self::DataIn,
            _ if has("Memcpy (DtoH)") => Self::DataOut,
            _ if has("aiuDataConvert") => Self::DataConvert,
            _ if has("aiuPrepareAndSyncRdma") => Self::Wireup,
            _ if has("aiuSuperNodeExecution") || has("aiuLaunchSuperNode") => Self::RoundtripFlex,
            _ if has("arrier:") => Self::Barrier,
            _ => Self::Other,
        }
    }

    /// The class of a transfer between the first and the last kernel of its job: part of a
    /// collective operation.
    #[must_use]
    pub fn within_job(self) -> Self {
        match self {
            Self::DataIn => Self::Receive,
            Self::DataOut => Self::Send,
            other => other,
        }
    }

    fn of_collective(name: &str) -> Option<Self> {
        let has = |part: &str| name.contains(part);
        if has("Host DMA") || has("HCOLL") {
            return HostStep::of(name).map(Self::Hosted);
        }
        if has("DLM Wait") {
            return Some(Self::Hosted(HostStep::WaitData));
        }
        if has("Set BcList") || has("Xseg to rank") {
            return Some(Self::ProtocolSerial);
        }
        match Phase::of(name) {
            Phase::DataIn => Some(Self::ReceiveRdma),
            Phase::DataOut => Some(Self::SendRdma),
            _ => None,
        }
    }

    /// Name of the class.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ComputePrep => "COMPUTE_PREP",
            Self::ComputeExec => "COMPUTE_EXEC",
            Self::DataIn => "DATA_IN",
            Self::DataOut => "DATA_OUT",
            Self::DataConvert => "SEN_DATA_CONVERT",
            Self::Wireup => "MAIU_WIREUP",
            Self::Barrier => "MAIU_BARRIER",
            Self::RoundtripFlex => "ROUNDTRIP_FLEX",
            Self::RoundtripAiu => "ROUNDTRIP_AIU",
            Self::ProtocolSerial => "MAIU_PROTOCOL_SERIAL",
            Self::SendRdma => "MAIU_P2PRDMA_PROTOCOL_SEND_DATA",
            Self::ReceiveRdma => "MAIU_P2PRDMA_PROTOCOL_RECV_DATA",
            Self::Send => "MAIU_PROTOCOL_SEND_DATA",
            Self::Receive => "MAIU_PROTOCOL_RECV_DATA",
            Self::Hosted(step) => step.name(),
            Self::Other => "OTHER",
        }
    }
}

impl HostStep {
    fn of(name: &str) -> Option<Self> {
        let has = |part: &str| name.contains(part);
        let any = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        Some(if any(&["Wdone DmaI", "Wait for Data Avail Notice", "R5 Wait DATA"]) {
            Self::WaitData
        } else if any(&["Wait ACK", "Wait for Ack"]) {
            Self::WaitAck
        } else if any(&["Send ACK", "Signal ACK"]) {
            Self::SignalAck
        } else if any(&["Send Instruction", "HCOLL Signal", "R5 Send DATA"]) {
            Self::SignalData
        } else if has("Notice") {
            Self::MonitorNotice
        } else {
            match Phase::of(name) {
                Phase::DataIn => Self::ReceiveData,
                Phase::DataOut => Self::SendData,
                _ => return None,
            }
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::WaitData => "MAIU_HDMA_PROTOCOL_WAIT_DATA",
            Self::WaitAck => "MAIU_HDMA_PROTOCOL_WAIT_ACK",
            Self::SignalAck => "MAIU_HDMA_PROTOCOL_SIGNAL_ACK",
            Self::SignalData => "MAIU_HDMA_PROTOCOL_SIGNAL_DATA",
            Self::MonitorNotice => "MAIU_HDMA_PROTOCOL_MONITOR_NOTICE",
            Self::SendData => "MAIU_HDMA_PROTOCOL_SEND_DATA",
            Self::ReceiveData => "MAIU_HDMA_PROTOCOL_RECV_DATA",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_pytorch_have_classes() {
        for (category, name, expected) in [
            ("kernel", "add", AiuClass::ComputeExec),
            ("gpu_memcpy", "Memcpy (HtoD)", AiuClass::DataIn),
            ("gpu_memcpy", "Memcpy (DtoH)", AiuClass::DataOut),
            ("gpu_user_annotation", "HCOLL Signal", AiuClass::Hosted(HostStep::SignalData)),
            ("cpu_op", "aten::add", AiuClass::Other),
        ] {
            assert_eq!(AiuClass::of_torch(category, name), expected, "{name}");
        }
    }

    #[test]
    fn names_tell_classes() {
        for (name, has_group, class) in [
            ("add_11 Cmpt Exec", false, "COMPUTE_EXEC"),
            ("Add_1 Cmpt Exec", true, "COMPUTE_EXEC"),
            ("In DmaI", false, "DATA_IN"),
            ("Recv_1 [sync=a_s0_r1] DmaI", true, "MAIU_P2PRDMA_PROTOCOL_RECV_DATA"),
            ("Send_1 - Set BcList [sync=a] DmaO", true, "MAIU_PROTOCOL_SERIAL"),
            ("HCOLL R5 Send ACK", true, "MAIU_HDMA_PROTOCOL_SIGNAL_ACK"),
            ("AIU Roundtrip", false, "ROUNDTRIP_AIU"),
            ("Compute of Input", false, "SEN_DATA_CONVERT"),
            ("Compute of SenFusedDeviceNode_0", false, "OTHER"),
        ] {
            assert_eq!(AiuClass::of_device(name, has_group).name(), class, "{name}");
        }
        assert_eq!(AiuClass::DataOut.within_job().name(), "MAIU_PROTOCOL_SEND_DATA");
        assert_eq!(AiuClass::ComputeExec.within_job(), AiuClass::ComputeExec);
    }
}
