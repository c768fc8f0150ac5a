//! Tables of stack frames: the calls in the framework and in kernels that instructions come from.

table! {
    /// Stack frames, each with its caller. `stack_frame_ids` of instructions name them.
    "stack_frame" STACK_FRAME StackFrame Side;
    "Source" {
        id: None, "Id of the frame.";
        file_location_id: None, "Location of the call.";
        parent_frame_id: None, "Frame of the caller; 0 for none.";
    }
}

table! {
    /// Places of calls: file, function and line.
    "stack_frame_file_location" STACK_FRAME_FILE_LOCATION StackFrameFileLocation Side;
    "Source" {
        id: None, "Id of the location.";
        file_name_id: None, "File of the call.";
        function_name_id: None, "Function that contains the call.";
        line_number: None, "Line of the call within its file.";
    }
}

table! {
    /// Names of source files.
    "stack_frame_file_name" STACK_FRAME_FILE_NAME StackFrameFileName Side;
    "Source" {
        id: None, "Id of the file.";
        name: None, "Name or path of the file.";
    }
}

table! {
    /// Names of functions.
    "stack_frame_function_name" STACK_FRAME_FUNCTION_NAME StackFrameFunctionName Side;
    "Source" {
        id: None, "Id of the function.";
        name: None, "Name of the function.";
    }
}
